//! Operators that the program defines for its structs. Those of the language are in `operators`.

use crate::diag::Span;
use crate::sema::Checker;
use crate::sema::operand::Operand;
use crate::sema::scope::{Entity, FunctionSet};
use crate::sema::types::Kind;

impl<'a> Checker<'a> {
    /// An overloaded operator; `None` if no overload is meant.
    pub(in crate::sema) fn operator_call(
        &mut self,
        name: &str,
        operands: &[Operand<'a>],
        span: Span,
    ) -> Option<Operand<'a>> {
        let name = Self::name_of(name);
        let mut best: Option<Operand<'a>> = None;
        if let Some((object, rest)) = operands.split_first()
            && let Kind::Struct(id) = self.types.kind(object.ty)
            && let Some(Entity::Functions(set)) = self.find_own_member(id, &name)
        {
            let set = FunctionSet {
                object: Some(Box::new(object.clone())),
                ..set
            };
            let rest = rest.to_vec();
            if !self.user_candidates(&set, &rest).is_empty() {
                best = Some(self.call_set(&set, rest, span, span));
            }
        }
        if best.is_some() {
            return best;
        }
        let free = self.find_operator(&name, operands)?;
        let this = self.context.this.take();
        let fits = !self.user_candidates(&free, operands).is_empty();
        let result = fits.then(|| self.call_set(&free, operands.to_vec(), span, span));
        self.context.this = this;
        result
    }

    /// The free operators of a name, here and in the operands' namespaces.
    fn find_operator(
        &mut self,
        name: &crate::syntax::ast::Name,
        operands: &[Operand<'a>],
    ) -> Option<FunctionSet<'a>> {
        let horizon = self.context.horizon;
        let mut namespaces = Vec::new();
        let mut level = Some(self.context.namespace);
        while let Some(namespace) = level {
            namespaces.push(namespace);
            level = self.namespaces[namespace].parent;
        }
        for operand in operands {
            if let Kind::Struct(id) = self.types.kind(operand.ty) {
                namespaces.push(self.structs[id].namespace);
            }
        }
        let mut found: Option<FunctionSet<'a>> = None;
        for namespace in namespaces {
            if let Some(Entity::Functions(set)) = self.find_in_namespace(namespace, name, horizon) {
                match &mut found {
                    None => found = Some(set),
                    Some(known) => {
                        for id in set.users {
                            if !known.users.contains(&id) {
                                known.users.push(id);
                            }
                        }
                    }
                }
            }
        }
        found
    }
}
