//! The functions that a call could mean, and how well each fits. The choice is made in `call_set`.

use super::{Candidate, Target};
use crate::ir::AddressSpace;
use crate::sema::Checker;
use crate::sema::builtins;
use crate::sema::conversions::Rank;
use crate::sema::operand::{Lvalue, Operand};
use crate::sema::scope::FunctionSet;

impl<'a> Checker<'a> {
    pub(super) fn user_candidates(
        &mut self,
        set: &FunctionSet<'a>,
        args: &[Operand<'a>],
    ) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::new();
        // Methods rank their object too; static ones beside them fit any.
        let has_methods = set.users.iter().any(|&id| {
            let info = &self.functions[id];
            info.owner.is_some() && !info.ast.is_static
        });
        for &id in &set.users {
            let is_template = self.functions[id].is_template;
            let concrete = if is_template {
                match self.deduce_instance(id, set.explicit, args) {
                    Some(instance) => instance,
                    None => continue,
                }
            } else if set.explicit.is_some() {
                continue;
            } else {
                id
            };
            let Some(signature) = self.functions[concrete].signature.clone() else {
                continue;
            };
            if args.len() < signature.required || args.len() > signature.params.len() {
                continue;
            }
            let mut ranks = Vec::new();
            if let Some((space, is_const)) = signature.object {
                let Some(rank) = self.object_rank(set, space, is_const) else {
                    continue;
                };
                ranks.push(rank);
            } else if has_methods {
                ranks.push(Rank::Exact);
            }
            let fits = args.iter().zip(&signature.params).all(|(arg, &param)| {
                match self.passing_rank(arg, param) {
                    Some(rank) => {
                        ranks.push(rank);
                        true
                    }
                    None => false,
                }
            });
            if fits {
                candidates.push(Candidate {
                    what: Target::User(concrete),
                    ranks,
                    is_template,
                });
            }
        }
        candidates
    }

    /// The place of the object that methods of a set are called on.
    pub(super) fn object_place<'s>(&'s self, set: &'s FunctionSet<'a>) -> Option<&'s Lvalue> {
        match &set.object {
            Some(object) => object.as_place(),
            None => self.context.this.as_ref(),
        }
    }

    /// How well a method's object fits it.
    pub(super) fn object_rank(
        &self,
        set: &FunctionSet<'a>,
        space: AddressSpace,
        is_const: bool,
    ) -> Option<Rank> {
        match self.object_place(set) {
            Some(lvalue) => {
                let fits = lvalue.space == space && (is_const || !lvalue.is_const);
                fits.then_some(if is_const == lvalue.is_const {
                    Rank::Exact
                } else {
                    Rank::Promotion
                })
            }
            // A value gets a variable of its own.
            None if set.object.is_some() => (space == AddressSpace::Thread).then_some(Rank::Exact),
            None => None,
        }
    }

    pub(super) fn library_candidates(
        &mut self,
        set: &FunctionSet<'a>,
        args: &[Operand<'a>],
    ) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for candidate in builtins::candidates(self, &set.name, args) {
            let mut ranks = Vec::new();
            let fits =
                args.iter().zip(&candidate.params).all(|(arg, &param)| {
                    match builtins::rank(self, arg, param) {
                        Some(rank) => {
                            ranks.push(rank);
                            true
                        }
                        None => false,
                    }
                });
            if fits {
                candidates.push(Candidate {
                    what: Target::Library(candidate),
                    ranks,
                    is_template: false,
                });
            }
        }
        candidates
    }
}
