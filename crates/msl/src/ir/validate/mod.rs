//! Checks the invariants that the module's documentation states.
//!
//! The type checker keeps them by construction; this finds its mistakes in tests, before a back end
//! trips over them. It is no substitute for the type checker: it knows nothing of the language.

mod library;
mod operations;
mod statements;

use std::collections::HashSet;

use super::{Function, Handle, Module, Packing, Scalar, Type, Value};

/// Says what is wrong with a module, if anything is.
pub fn validate(module: &Module) -> Result<(), String> {
    for (handle, function) in module.functions.iter() {
        let mut validator = Validator {
            module,
            function,
            position: handle.index(),
            defined: HashSet::new(),
            loops: 0,
            breakables: 0,
        };
        validator
            .block(&function.body)
            .map_err(|message| format!("function `{}`: {message}", function.name))?;
    }
    for kernel in &module.kernels {
        let params = module.functions[kernel.function].params.len();
        if params != kernel.arguments.len() {
            return Err(format!(
                "kernel `{}` binds {} of {params} parameters",
                kernel.name,
                kernel.arguments.len()
            ));
        }
        for condition in kernel.arguments.iter().filter_map(|a| a.condition.as_ref()) {
            let mut all_bools = true;
            condition.visit(&mut |constant| {
                let ty = &module.types[module.function_constants[constant].ty];
                all_bools &= *ty == Type::Scalar(Scalar::Bool);
            });
            ensure(all_bools, || {
                format!("kernel `{}` has an argument by a number", kernel.name)
            })?;
        }
    }
    Ok(())
}

struct Validator<'m> {
    module: &'m Module,
    function: &'m Function,
    position: usize,
    /// The values that can be used here.
    defined: HashSet<Handle<Value>>,
    loops: usize,
    breakables: usize,
}

type Check = Result<(), String>;

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(message()) }
}

impl Validator<'_> {
    fn ty(&self, value: Handle<Value>) -> Result<Handle<Type>, String> {
        if !self.defined.contains(&value) {
            return Err(format!(
                "%{} is used where it is not defined",
                value.index()
            ));
        }
        Ok(self.function.values[value].ty)
    }

    fn kind(&self, ty: Handle<Type>) -> &Type {
        &self.module.types[ty]
    }

    fn name(&self, ty: Handle<Type>) -> String {
        self.module.types.name(ty)
    }

    /// What a load of a type gives: packed vectors unpack.
    fn value_type_is(&self, memory: Handle<Type>, value: Handle<Type>) -> bool {
        if memory == value {
            return true;
        }
        match (self.kind(memory), self.kind(value)) {
            (Type::Vector(l, ll, Packing::Packed), Type::Vector(r, rl, Packing::Aligned)) => {
                l == r && ll == rl
            }
            _ => false,
        }
    }

    /// The handle of a type, if the module has it.
    fn find(&self, kind: Type) -> Option<Handle<Type>> {
        self.module.types.find(&kind)
    }

    fn shape(&self, ty: Handle<Type>) -> Option<(Scalar, u8)> {
        self.module.types.as_vector(ty)
    }

    fn same(&self, values: &[Handle<Value>], ty: Handle<Type>) -> Check {
        for &value in values {
            let given = self.ty(value)?;
            ensure(given == ty, || {
                format!(
                    "an operand is a {}, not a {}",
                    self.name(given),
                    self.name(ty)
                )
            })?;
        }
        Ok(())
    }

    fn is_bool(&self, value: Handle<Value>) -> Check {
        let ty = self.ty(value)?;
        ensure(*self.kind(ty) == Type::Scalar(Scalar::Bool), || {
            format!("condition %{} is a {}", value.index(), self.name(ty))
        })
    }
}
