//! Instances of function templates, and why there is none.

use std::collections::HashMap;

use super::deduce::Deduction;
use super::specialise::specificity;
use super::{Argument, Bindings, param_name};
use crate::sema::Checker;
use crate::sema::functions::{FunctionInfo, State};
use crate::sema::operand::Operand;
use crate::sema::scope::FunctionId;
use crate::sema::types::{Qualified, Ty};
use crate::syntax::ast::{TemplateArg, TemplateParamKind};

impl<'a> Checker<'a> {
    /// The instance of a function template that a call's arguments ask for, if they fit.
    pub(in crate::sema) fn deduce_instance(
        &mut self,
        id: FunctionId,
        explicit: Option<&'a [TemplateArg]>,
        args: &[Operand<'a>],
    ) -> Option<FunctionId> {
        let info = &self.functions[id];
        let ast = info.ast;
        let takes_pack = ast.params.last().is_some_and(|p| p.is_pack);
        if args.len() > ast.params.len() && !takes_pack {
            return None;
        }
        let given = ast
            .params
            .iter()
            .take_while(|p| p.default.is_none() && !p.is_pack)
            .count();
        if args.len() < given {
            return None;
        }
        self.instance_from(id, explicit, |checker, deduction, bindings| {
            checker.in_function_scope(id, |checker| {
                for (index, arg) in args.iter().enumerate() {
                    let param = ast.params.get(index).or(ast.params.last())?;
                    if param.is_pack {
                        return checker.deduce_pack(deduction, param, &args[index..], bindings);
                    }
                    checker.deduce_operand(deduction, &param.ty, arg, bindings)?;
                }
                Some(())
            })
        })
    }

    /// The instance that parameter types ask for: for function arguments and instantiations.
    pub(in crate::sema) fn deduce_from_types(
        &mut self,
        id: FunctionId,
        explicit: Option<&'a [TemplateArg]>,
        types: Option<&[Qualified]>,
    ) -> Option<FunctionId> {
        let ast = self.functions[id].ast;
        if types.is_some_and(|types| types.len() != ast.params.len()) {
            return None;
        }
        self.instance_from(id, explicit, |checker, deduction, bindings| {
            for (param, ty) in ast.params.iter().zip(types.unwrap_or(&[])) {
                checker.deduce(deduction, &param.ty, *ty, bindings)?;
            }
            Some(())
        })
    }

    /// The instance of a conversion operator template that gives a type.
    pub(in crate::sema) fn deduce_conversion(
        &mut self,
        id: FunctionId,
        to: Ty,
    ) -> Option<FunctionId> {
        let result = self.functions[id].ast.result.as_ref()?;
        self.instance_from(id, None, |checker, deduction, bindings| {
            checker.deduce(deduction, result, Qualified::plain(to), bindings)
        })
    }

    /// The instance of a function template with the arguments written, those that `deduce` finds,
    /// and defaults for the rest.
    fn instance_from(
        &mut self,
        id: FunctionId,
        explicit: Option<&'a [TemplateArg]>,
        deduce: impl FnOnce(&mut Self, &Deduction<'a, '_>, &mut Bindings) -> Option<()>,
    ) -> Option<FunctionId> {
        let params = self.functions[id].ast.template.as_ref()?;
        let found = self.silently(|checker| {
            let place = checker.function_place(id);
            let mut bindings = Bindings::new();
            if let Some(explicit) = explicit {
                checker.bind_written(params, explicit, &place, &mut bindings)?;
            }
            let fixed = bindings.clone();
            let deduction = Deduction {
                params,
                fixed: &fixed,
            };
            deduce(checker, &deduction, &mut bindings)?;
            checker.bind_defaults(params, &place, &mut bindings)?;
            Self::ordered(params, &bindings)
        })?;
        self.function_instance(id, found)
    }

    /// The instance of a function template for these arguments.
    pub(super) fn function_instance(
        &mut self,
        id: FunctionId,
        arguments: Vec<Argument>,
    ) -> Option<FunctionId> {
        if let Some(known) = self.functions[id].instances.get(&arguments) {
            return *known;
        }
        let span = self.functions[id].ast.name.span;
        if !self.count_instance(span) {
            return None;
        }
        let ast = self.functions[id].ast;
        let params = ast.template.as_ref()?;
        let bindings: Bindings = params
            .params
            .iter()
            .enumerate()
            .zip(&arguments)
            .map(|((index, param), argument)| (param_name(param, index), argument.clone()))
            .collect();
        let info = &self.functions[id];
        let environment = self.environment_of(params, &bindings, info.environment.clone());
        let text = self.argument_text(&arguments);
        let instance = FunctionInfo {
            name: Self::name_of(format!("{}{text}", info.ast.name.name)),
            ast,
            namespace: info.namespace,
            owner: info.owner,
            environment: Some(environment),
            declared: info.declared,
            defined: info.defined,
            is_template: false,
            instance_of: Some(id),
            signature: None,
            state: State::Declared,
            instances: HashMap::new(),
        };
        let new = self.functions.len();
        self.functions.push(instance);
        // An unfinished entry ends a signature that asks for itself.
        self.functions[id].instances.insert(arguments.clone(), None);
        let made = self.silently(|checker| {
            checker.in_function_scope(new, |checker| checker.complete_signature(new));
            Some(())
        });
        let result = made.map(|()| new);
        self.functions[id].instances.insert(arguments, result);
        result
    }

    /// The most specialised of several instances that fit equally well.
    pub(in crate::sema) fn most_specialised(
        &self,
        ids: &[FunctionId],
        among: usize,
    ) -> Option<FunctionId> {
        if ids.len() != among {
            return None;
        }
        let score = |id: &FunctionId| {
            let info = &self.functions[*id];
            let open: Vec<&str> = info
                .ast
                .template
                .iter()
                .flat_map(|t| &t.params)
                .filter_map(|p| p.name.as_ref().map(|n| &*n.name))
                .collect();
            let packs = info.ast.params.iter().filter(|p| p.is_pack).count() as i64;
            info.ast
                .params
                .iter()
                .map(|p| specificity(&p.ty, &open))
                .sum::<i64>()
                - 1000 * packs
        };
        let best = ids.iter().map(score).max()?;
        let mut top = ids.iter().filter(|id| score(id) == best);
        match (top.next(), top.next()) {
            (Some(id), None) => Some(*id),
            _ => None,
        }
    }

    /// Why a template does not fit, for a message.
    pub(in crate::sema) fn explain_deduction(
        &mut self,
        id: FunctionId,
        explicit: Option<&'a [TemplateArg]>,
        args: &[Operand<'a>],
    ) -> String {
        let ast = self.functions[id].ast;
        if args.len() > ast.params.len() && !ast.params.last().is_some_and(|p| p.is_pack) {
            return format!(
                "it takes {} arguments, not {}",
                ast.params.len(),
                args.len()
            );
        }
        let required = ast
            .params
            .iter()
            .take_while(|p| p.default.is_none() && !p.is_pack)
            .count();
        if args.len() < required {
            return format!("it takes {required} arguments, not {}", args.len());
        }
        let Some(params) = ast.template.as_ref() else {
            return "none fits".to_string();
        };
        let place = self.function_place(id);
        let mut bindings = Bindings::new();
        if let Some(explicit) = explicit
            && self
                .silently(|checker| checker.bind_written(params, explicit, &place, &mut bindings))
                .is_none()
        {
            return "its template arguments do not fit".to_string();
        }
        let fixed = bindings.clone();
        let deduction = Deduction {
            params,
            fixed: &fixed,
        };
        for (index, (param, arg)) in ast.params.iter().zip(args).enumerate() {
            let fits = self.silently(|checker| {
                checker.deduce_operand(&deduction, &param.ty, arg, &mut bindings)
            });
            if fits.is_none() {
                let given = self.operand_type_name(arg);
                return format!("argument {} (`{given}`) does not match", index + 1);
            }
        }
        for (index, param) in params.params.iter().enumerate() {
            let name = param_name(param, index);
            let has_default = matches!(
                param.kind,
                TemplateParamKind::Type(Some(_)) | TemplateParamKind::Value(_, Some(_))
            );
            if !bindings.contains_key(&name) && !has_default && !param.is_pack {
                return format!("nothing says what `{name}` is");
            }
        }
        "these arguments are excluded".to_string()
    }
}
