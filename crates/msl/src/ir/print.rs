//! A module as compact text, the same for the same module: for snapshots and for reading.

use std::fmt::{self, Write};

use super::{
    Argument, Binding, Block, Condition, Function, Handle, Literal, Module, Op, Place, PlaceBase,
    Projection, Statement, Type, Value,
};

/// The text of a whole module.
pub fn module(module: &Module) -> String {
    let mut printer = Printer {
        module,
        function: None,
        text: String::new(),
        depth: 0,
    };
    // Writing to a string cannot fail.
    let _ = printer.module();
    printer.text
}

struct Printer<'m> {
    module: &'m Module,
    function: Option<&'m Function>,
    text: String,
    depth: usize,
}

impl<'m> Printer<'m> {
    fn line(&mut self, text: &str) -> fmt::Result {
        for _ in 0..self.depth {
            self.text.write_str("  ")?;
        }
        self.text.write_str(text)?;
        self.text.write_char('\n')
    }

    fn nested(&mut self, block: &Block) -> fmt::Result {
        self.depth += 1;
        self.block(block)?;
        self.depth -= 1;
        Ok(())
    }

    fn name(&self, ty: Handle<Type>) -> String {
        self.module.types.name(ty)
    }

    fn module(&mut self) -> fmt::Result {
        let module = self.module;
        for (handle, data) in module.constants.iter() {
            let mut bytes = String::new();
            for byte in data.bytes.iter().take(16) {
                write!(bytes, "{byte:02x}")?;
            }
            if data.bytes.len() > 16 {
                write!(bytes, ".. ({} bytes)", data.bytes.len())?;
            }
            let ty = self.name(data.ty);
            self.line(&format!(
                "constant c{} {}: {ty} = {bytes}",
                handle.index(),
                data.name
            ))?;
        }
        for (_, constant) in module.function_constants.iter() {
            let ty = self.name(constant.ty);
            self.line(&format!(
                "function_constant({}) {}: {ty}",
                constant.index, constant.name
            ))?;
        }
        for (_, function) in module.functions.iter() {
            self.function(function)?;
        }
        for kernel in &module.kernels {
            let name = &module.functions[kernel.function].name;
            let threads = kernel
                .max_threads
                .map_or(String::new(), |n| format!(" max_threads({n})"));
            self.line(&format!("kernel {} = {name}{threads}", kernel.name))?;
            self.depth += 1;
            for argument in &kernel.arguments {
                let text = self.argument(argument);
                self.line(&text)?;
            }
            self.depth -= 1;
        }
        Ok(())
    }

    fn argument(&self, argument: &Argument) -> String {
        let binding = match &argument.binding {
            Binding::Buffer {
                index,
                space,
                writable,
                pointee,
                is_reference,
            } => format!(
                "buffer({index}) {}{} {} {}",
                if *writable { "" } else { "const " },
                format!("{space:?}").to_lowercase(),
                self.name(*pointee),
                if *is_reference { "&" } else { "*" }
            ),
            Binding::Threadgroup { index, pointee } => {
                format!("threadgroup({index}) {} *", self.name(*pointee))
            }
            Binding::Builtin(builtin) => format!("{builtin:?}"),
        };
        let condition = argument.condition.as_ref();
        let condition = condition.map_or(String::new(), |c| format!(" if {}", self.condition(c)));
        format!("{}: {binding}{condition}", argument.name)
    }

    fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Constant(c) => self.module.function_constants[*c].name.to_string(),
            Condition::Not(inner) => format!("!{}", self.condition(inner)),
            Condition::And(l, r) => format!("({} && {})", self.condition(l), self.condition(r)),
            Condition::Or(l, r) => format!("({} || {})", self.condition(l), self.condition(r)),
        }
    }

    fn function(&mut self, function: &'m Function) -> fmt::Result {
        self.function = Some(function);
        let params: Vec<String> = function
            .params
            .iter()
            .map(|&param| {
                let local = &function.locals[param];
                format!("{}{}: {}", local.name, param.index(), self.name(local.ty))
            })
            .collect();
        let result = self.name(function.result);
        self.line(&format!(
            "fn {}({}) -> {result} {{",
            function.name,
            params.join(", ")
        ))?;
        self.depth += 1;
        for (handle, local) in function.threadgroup.iter() {
            let ty = self.name(local.ty);
            self.line(&format!(
                "threadgroup {}{}: {ty}",
                local.name,
                handle.index()
            ))?;
        }
        for (handle, local) in function.locals.iter() {
            if !function.params.contains(&handle) {
                let ty = self.name(local.ty);
                self.line(&format!("var {}{}: {ty}", local.name, handle.index()))?;
            }
        }
        self.block(&function.body)?;
        self.depth -= 1;
        self.line("}")
    }

    fn block(&mut self, block: &Block) -> fmt::Result {
        for statement in block {
            self.statement(statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> fmt::Result {
        match statement {
            Statement::Let(value, op) => {
                let ty = self
                    .function
                    .map_or(String::new(), |f| self.name(f.values[*value].ty));
                let op = self.op(op);
                self.line(&format!("{}: {ty} = {op}", v(*value)))
            }
            Statement::Store { place, value, .. } => {
                let place = self.place(place);
                self.line(&format!("{place} = {}", v(*value)))
            }
            Statement::If {
                condition,
                accept,
                reject,
                ..
            } => {
                self.line(&format!("if {} {{", v(*condition)))?;
                self.nested(accept)?;
                if !reject.is_empty() {
                    self.line("} else {")?;
                    self.nested(reject)?;
                }
                self.line("}")
            }
            Statement::Loop {
                header,
                condition,
                body,
                step,
                test_first,
                ..
            } => {
                self.line(if *test_first {
                    "loop {"
                } else {
                    "loop body first {"
                })?;
                self.nested(header)?;
                self.line(&format!("}} while {} {{", v(*condition)))?;
                self.nested(body)?;
                if !step.is_empty() {
                    self.line("} step {")?;
                    self.nested(step)?;
                }
                self.line("}")
            }
            Statement::Switch { selector, arms, .. } => {
                self.line(&format!("switch {} {{", v(*selector)))?;
                for arm in arms {
                    let mut labels: Vec<String> =
                        arm.values.iter().map(ToString::to_string).collect();
                    if arm.is_default {
                        labels.push("default".to_string());
                    }
                    self.line(&format!("{}:", labels.join(", ")))?;
                    self.nested(&arm.body)?;
                }
                self.line("}")
            }
            Statement::Break(_) => self.line("break"),
            Statement::Continue(_) => self.line("continue"),
            Statement::Return(None, _) => self.line("return"),
            Statement::Return(Some(value), _) => self.line(&format!("return {}", v(*value))),
            Statement::Barrier {
                scope,
                device,
                threadgroup,
                ..
            } => {
                let device = if *device { " device" } else { "" };
                let threadgroup = if *threadgroup { " threadgroup" } else { "" };
                self.line(&format!("barrier {scope:?}:{device}{threadgroup}"))
            }
        }
    }

    fn place(&self, place: &Place) -> String {
        let mut text = match place.base {
            PlaceBase::Local(local) => {
                let name = self
                    .function
                    .map_or("local".into(), |f| f.locals[local].name.clone());
                format!("{name}{}", local.index())
            }
            PlaceBase::Threadgroup(local) => {
                let name = self
                    .function
                    .map_or("shared".into(), |f| f.threadgroup[local].name.clone());
                format!("{name}{}", local.index())
            }
            PlaceBase::Constant(constant) => format!("c{}", constant.index()),
            PlaceBase::Pointer(pointer) => format!("*{}", v(pointer)),
        };
        for step in &place.path {
            match step {
                Projection::Field(index) => text.push_str(&format!(".{index}")),
                Projection::Index(value) => text.push_str(&format!("[{}]", v(*value))),
                Projection::Element(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    fn op(&self, op: &Op) -> String {
        match op {
            Op::Literal(Literal::Bool(value)) => value.to_string(),
            Op::Literal(Literal::Int(value)) => value.to_string(),
            Op::Literal(Literal::Float(value)) => format!("{value:?}"),
            Op::FunctionConstant(handle) => {
                format!(
                    "function_constant {}",
                    self.module.function_constants[*handle].name
                )
            }
            Op::FunctionConstantDefined(handle) => {
                format!("defined {}", self.module.function_constants[*handle].name)
            }
            Op::Zero => "zero".into(),
            Op::Compose(parts) => format!("compose({})", list(parts)),
            Op::Splat(value) => format!("splat {}", v(*value)),
            Op::Extract(value, index) => format!("{}.{index}", v(*value)),
            Op::Swizzle(value, components) => {
                let names: String = components
                    .iter()
                    .map(|&c| char::from(b"xyzw"[usize::from(c & 3)]))
                    .collect();
                format!("{}.{names}", v(*value))
            }
            Op::Unary(op, value) => format!("{op:?} {}", v(*value)),
            Op::Binary(op, left, right) => format!("{op:?} {} {}", v(*left), v(*right)),
            Op::Convert(value) => format!("convert {}", v(*value)),
            Op::Bitcast(value) => format!("bitcast {}", v(*value)),
            Op::Select {
                condition,
                accept,
                reject,
            } => format!("select {} ? {} : {}", v(*condition), v(*accept), v(*reject)),
            Op::Math(function, args) => format!("{}({})", function.name(), list(args)),
            Op::Load(place) => format!("load {}", self.place(place)),
            Op::AddressOf(place) => format!("&{}", self.place(place)),
            Op::Offset(pointer, count) => format!("{} offset {}", v(*pointer), v(*count)),
            Op::PointerDifference(left, right) => format!("{} minus {}", v(*left), v(*right)),
            Op::Call(function, args) => {
                format!(
                    "call {}({})",
                    self.module.functions[*function].name,
                    list(args)
                )
            }
            Op::Simd(op, args) => format!("simd {op:?}({})", list(args)),
            Op::Atomic { op, place, args } => {
                format!("atomic {op:?} {}({})", self.place(place), list(args))
            }
            Op::SimdgroupMatrix(op, args) => format!("matrix {op:?}({})", list(args)),
        }
    }
}

fn v(value: Handle<Value>) -> String {
    format!("%{}", value.index())
}

fn list(values: &[Handle<Value>]) -> String {
    values
        .iter()
        .map(|&value| v(value))
        .collect::<Vec<_>>()
        .join(", ")
}
