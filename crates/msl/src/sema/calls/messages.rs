//! What is said of a call that no function fits, or several. Nothing is decided here.

use super::Target;
use crate::diag::{Diagnostic, Span};
use crate::ir::AddressSpace;
use crate::sema::Checker;
use crate::sema::builtins;
use crate::sema::operand::Operand;
use crate::sema::scope::{FunctionId, FunctionSet};
use crate::sema::types::{Qualified, space_name};

impl<'a> Checker<'a> {
    fn argument_list(&self, args: &[Operand<'a>]) -> String {
        let names: Vec<String> = args.iter().map(|arg| self.operand_type_name(arg)).collect();
        names.join(", ")
    }

    /// A function's head, for messages.
    fn describe(&self, id: FunctionId) -> String {
        let info = &self.functions[id];
        let Some(signature) = &info.signature else {
            return format!("{}<..>(..)", info.name);
        };
        let params: Vec<String> = signature
            .params
            .iter()
            .map(|p| self.describe_param(*p))
            .collect();
        format!("{}({})", info.name, params.join(", "))
    }

    fn describe_param(&self, param: Qualified) -> String {
        let name = self.type_name(param.ty);
        if !param.is_reference {
            return name;
        }
        let space = param.space.map_or("thread", space_name);
        let constness = if param.is_const && param.space != Some(AddressSpace::Constant) {
            "const "
        } else {
            ""
        };
        format!("{constness}{space} {name} &")
    }

    pub(super) fn report_ambiguous(
        &mut self,
        set: &FunctionSet<'a>,
        args: &[Operand<'a>],
        targets: &[Target],
        name_span: Span,
    ) {
        let list = self.argument_list(args);
        let mut fits: Vec<String> = targets
            .iter()
            .map(|target| match target {
                Target::User(id) => self.describe(*id),
                Target::Library(candidate) => {
                    let params: Vec<_> = candidate
                        .params
                        .iter()
                        .map(|p| self.describe_param(p.ty))
                        .collect();
                    format!("{}({})", set.name, params.join(", "))
                }
            })
            .collect();
        fits.dedup();
        let more = fits.len().saturating_sub(3);
        fits.truncate(3);
        let mut shown: Vec<String> = fits.into_iter().map(|f| format!("`{f}`")).collect();
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        self.fail(
            Diagnostic::error(
                name_span,
                format!("`{}({list})` could mean several functions", set.name),
            )
            .with_label(format!("{} fit equally well", shown.join(", ")))
            .with_hint("cast the arguments to one type"),
        );
    }

    pub(super) fn report_no_candidate(
        &mut self,
        set: &FunctionSet<'a>,
        args: &[Operand<'a>],
        name_span: Span,
    ) {
        let name = &set.name;
        if set.library && set.users.is_empty() {
            let error = builtins::explain_mismatch(self, name, args, name_span);
            self.fail(error);
            return;
        }
        let concrete: Vec<FunctionId> = set.users.clone();
        if let ([only], false) = (&concrete[..], set.library) {
            self.report_single(*only, set, args, name_span);
            return;
        }
        let list = self.argument_list(args);
        let mut error = Diagnostic::error(name_span, format!("no `{name}` takes ({list})"))
            .with_label("none of its versions fits");
        for &id in concrete.iter().take(4) {
            error = error.with_related(
                self.functions[id].ast.name.span,
                format!("this one is `{}`", self.describe(id)),
            );
        }
        self.fail(error);
    }

    fn report_single(
        &mut self,
        id: FunctionId,
        set: &FunctionSet<'a>,
        args: &[Operand<'a>],
        name_span: Span,
    ) {
        let name = set.name.clone();
        let declared = self.functions[id].ast.name.span;
        let (signature, id) = match self.functions[id].signature.clone() {
            Some(signature) => (signature, id),
            None => match self.deduce_instance(id, set.explicit, args) {
                Some(instance) => match self.functions[instance].signature.clone() {
                    Some(signature) => (signature, instance),
                    None => return,
                },
                None => {
                    let why = self.explain_deduction(id, set.explicit, args);
                    self.fail(
                        Diagnostic::error(
                            name_span,
                            format!("the arguments do not fit the template `{name}`"),
                        )
                        .with_label(why)
                        .with_related(declared, "declared here")
                        .with_hint(format!(
                            "cast the arguments, or say what it is an instance of: `{name}<..>(..)`"
                        )),
                    );
                    return;
                }
            },
        };
        let (least, most) = (signature.required, signature.params.len());
        if args.len() < least || args.len() > most {
            let wanted = match (least, most) {
                (l, m) if l == m => format!("{l}"),
                (l, m) => format!("{l} to {m}"),
            };
            let plural = if least == 1 && most == 1 { "" } else { "s" };
            self.fail(
                Diagnostic::error(
                    name_span,
                    format!(
                        "`{name}` takes {wanted} argument{plural}, not {}",
                        args.len()
                    ),
                )
                .with_related(declared, "declared here"),
            );
            return;
        }
        if let Some((space, is_const)) = signature.object
            && self.object_rank(set, space, is_const).is_none()
        {
            self.report_object(set, &name, space, name_span, declared);
            return;
        }
        for (arg, &param) in args.iter().zip(&signature.params) {
            if self.passing_rank(arg, param).is_some() {
                continue;
            }
            if !param.is_reference {
                self.convert(arg.clone(), param.ty, &format!("a parameter of `{name}`"));
                return;
            }
            let wanted = self.describe_param(param);
            let given = self.operand_type_name(arg);
            let mut error =
                Diagnostic::error(arg.span, format!("`{name}` needs a `{wanted}` here"))
                    .with_related(declared, "declared here");
            error = match arg.as_place() {
                None => error.with_label(format!(
                    "this `{given}` is a value, not something in memory"
                )),
                Some(lvalue) if lvalue.swizzle.is_some() => error
                    .with_label("several components of a vector")
                    .with_hint("copy them to a variable, and back after the call"),
                Some(lvalue) if lvalue.space != param.space.unwrap_or(AddressSpace::Thread) => {
                    error.with_label(format!("this is in `{}` memory", space_name(lvalue.space)))
                }
                Some(lvalue) if lvalue.is_const && !param.is_const => {
                    error.with_label("this is const")
                }
                Some(_) => error.with_label(format!("this is `{given}`")),
            };
            self.fail(error);
            return;
        }
        let described = self.describe(id);
        self.fail(Diagnostic::error(
            name_span,
            format!("the arguments do not fit `{described}`"),
        ));
    }

    fn report_object(
        &mut self,
        set: &FunctionSet<'a>,
        name: &str,
        space: AddressSpace,
        name_span: Span,
        declared: Span,
    ) {
        let error = match self.object_place(set) {
            None => Diagnostic::error(
                name_span,
                format!("`{name}` needs an object to be called on"),
            ),
            Some(lvalue) if lvalue.space != space => {
                let there = space_name(lvalue.space);
                Diagnostic::error(
                    name_span,
                    format!(
                        "`{name}` works on objects in `{}` memory",
                        space_name(space)
                    ),
                )
                .with_label(format!("this object is in `{there}` memory"))
                .with_hint(format!(
                    "copy the object to a variable, or add a version of the method marked `{there}`"
                ))
            }
            Some(_) => Diagnostic::error(
                name_span,
                format!("`{name}` may change its object, and this one is const"),
            )
            .with_hint("mark the method `const` if it does not"),
        };
        self.fail(error.with_related(declared, "declared here"));
    }
}
