//! `alignas` and `aligned`: alignments that a program asks for.

use crate::diag::Diagnostic;
use crate::ir::{self, Handle, Projection};
use crate::sema::Checker;
use crate::sema::types::{Kind, Ty};
use crate::syntax::ast::{Attribute, Variable};

/// The largest alignment that can be asked for.
const LARGEST: i64 = 4096;

fn is_alignment(attribute: &Attribute) -> bool {
    matches!(attribute.plain_name(), "aligned" | "alignas")
}

impl<'a> Checker<'a> {
    /// The largest alignment that attributes ask for; 0 if none does.
    pub(super) fn alignment(&mut self, attributes: &'a [Attribute]) -> u32 {
        let mut align = 0;
        for attribute in attributes {
            let span = attribute.name.span;
            match (attribute.plain_name(), attribute.args.as_slice()) {
                ("aligned" | "alignas", [arg]) => {
                    match self.constant_int(arg, "an alignment") {
                        // `alignas(0)` asks for nothing.
                        None | Some(0) => {}
                        Some(value @ 1..=LARGEST) if value.count_ones() == 1 => {
                            align = align.max(value as u32);
                        }
                        Some(value) => self.fail(
                            Diagnostic::error(arg.span, format!("{value} is not an alignment"))
                                .with_label(format!(
                                    "an alignment is a power of two up to {LARGEST}"
                                )),
                        ),
                    }
                }
                ("aligned" | "alignas", _) => self.fail(
                    Diagnostic::error(span, "an alignment is one number of bytes")
                        .with_hint("write `alignas(16)`"),
                ),
                ("packed", _) => self.fail(
                    Diagnostic::error(span, "packed structs are not supported").with_hint(
                        "use packed vectors, or order the fields so that none needs padding",
                    ),
                ),
                _ => {}
            }
        }
        align
    }

    /// The same for something of this type, which must not ask for less than the type has.
    pub(in crate::sema) fn alignment_of(&mut self, attributes: &'a [Attribute], ty: Ty) -> u32 {
        let align = self.alignment(attributes);
        let has_layout = match self.types.kind(ty) {
            Kind::Void | Kind::Function(_) => false,
            Kind::Struct(id) => self.structs[id].is_complete,
            _ => !ty.is_error(),
        };
        if align > 0 && has_layout {
            let ir_type = self.ir_type(ty);
            let natural = self.module.types.layout(ir_type).1;
            if align < natural {
                self.refuse_lower_alignment(attributes, align, natural);
            }
        }
        align
    }

    pub(super) fn refuse_lower_alignment(
        &mut self,
        attributes: &[Attribute],
        align: u32,
        natural: u32,
    ) {
        if let Some(attribute) = attributes.iter().find(|a| is_alignment(a)) {
            self.fail(
                Diagnostic::error(
                    attribute.name.span,
                    format!(
                        "an alignment of {align} is less than the {natural} that the type needs"
                    ),
                )
                .with_hint(format!("write {natural} or more, or use packed vectors")),
            );
        }
    }

    /// A type as memory holds a variable of at least this alignment, and the way to the variable in
    /// it: alignment belongs to types, so a variable with its own lies in a struct of one field.
    pub(in crate::sema) fn aligned_type(
        &mut self,
        ty: Handle<ir::Type>,
        align: u32,
    ) -> (Handle<ir::Type>, Vec<Projection>) {
        let types = &mut self.module.types;
        if align <= types.layout(ty).1 {
            return (ty, Vec::new());
        }
        let fields = vec![("value".into(), ty, align)];
        let wrapper = types.add_struct(format!("aligned{align}").into(), fields, false, align);
        (
            types.intern(ir::Type::Struct(wrapper)),
            vec![Projection::Field(0)],
        )
    }

    /// Only program-scope constants can be function constants.
    pub(in crate::sema) fn refuse_function_constant(&mut self, variable: &Variable, what: &str) {
        let named = |a: &&Attribute| &*a.name.name == "function_constant";
        if let Some(attribute) = variable.attributes.iter().find(named) {
            self.fail(
                Diagnostic::error(
                    attribute.name.span,
                    format!("{what} cannot be a function constant"),
                )
                .with_hint(
                    "declare it at program scope: `constant T name [[function_constant(0)]];`",
                ),
            );
        }
    }
}
