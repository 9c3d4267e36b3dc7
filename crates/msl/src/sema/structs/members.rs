//! What names mean in a struct, an enum or the types of the library.

use std::collections::HashMap;

use super::EnumInfo;
use crate::diag::Diagnostic;
use crate::ir::Scalar;
use crate::sema::Checker;
use crate::sema::constant::{Constant, wrap};
use crate::sema::scope::Entity;
use crate::sema::types::{EnumId, Kind, Qualified, StructId, Ty};
use crate::syntax::ast::{self};

impl<'a> Checker<'a> {
    /// Declares a name in a struct; functions of one name join.
    pub(in crate::sema) fn declare_member(
        &mut self,
        id: StructId,
        name: &ast::Ident,
        entity: Entity<'a>,
    ) {
        match (self.structs[id].names.get_mut(&name.name), entity) {
            (Some(Entity::Functions(set)), Entity::Functions(new)) => set.users.extend(new.users),
            (Some(_), _) => {
                let owner = self.structs[id].name.clone();
                self.fail(Diagnostic::error(
                    name.span,
                    format!("struct `{owner}` already has a member `{}`", name.name),
                ));
            }
            (None, entity) => {
                self.structs[id].names.insert(name.name.clone(), entity);
            }
        }
    }

    /// What a name means in a struct, its bases, or the structs around it.
    pub(in crate::sema) fn find_member(&self, id: StructId, name: &str) -> Option<Entity<'a>> {
        if let Some(entity) = self.find_own_member(id, name) {
            return Some(entity);
        }
        // A nested struct sees the names of those around it, but not their fields.
        let mut outer = self.structs.get(id)?.owner;
        while let Some(around) = outer {
            let found = self.find_own_member(around, name);
            if let Some(entity) = found.filter(|entity| !matches!(entity, Entity::Field(..))) {
                return Some(entity);
            }
            outer = self.structs[around].owner;
        }
        None
    }

    /// What a name means in a struct or its bases.
    pub(in crate::sema) fn find_own_member(&self, id: StructId, name: &str) -> Option<Entity<'a>> {
        let info = self.structs.get(id)?;
        let own = info.names.get(name).cloned();
        own.or_else(|| {
            info.bases
                .iter()
                .find_map(|&(base, _)| self.find_own_member(base, name))
        })
    }

    /// `T::name`.
    pub(in crate::sema) fn type_member(
        &mut self,
        ty: Ty,
        segment: &ast::PathSegment,
        next: &'a ast::PathSegment,
    ) -> Option<Entity<'a>> {
        let name = &next.ident.name;
        let found = match self.types.kind(ty) {
            Kind::Error => return None,
            Kind::Struct(id) => self.find_own_member(id, name),
            Kind::Enum(id) => {
                let value = self.enums[id].values.iter().find(|(n, _)| n == name);
                value.map(|(_, v)| Entity::Known(ty, Constant::Int(*v)))
            }
            Kind::MemFlags => crate::sema::builtins::constants::memory_flag(name)
                .map(|v| Entity::Known(Ty::MEM_FLAGS, Constant::Int(v))),
            Kind::MemoryOrder if &**name == "memory_order_relaxed" => {
                Some(Entity::Known(Ty::MEMORY_ORDER, Constant::Int(0)))
            }
            Kind::SimdVote if &**name == "vote_t" => {
                Some(Entity::Type(Qualified::plain(Ty::ULONG)))
            }
            _ => None,
        };
        if found.is_none() {
            let owner = self.type_name(ty);
            let mut error =
                Diagnostic::error(next.ident.span, format!("`{owner}` has no member `{name}`"));
            let names: Vec<&str> = match self.types.kind(ty) {
                Kind::Struct(id) => self.structs[id].names.keys().map(|n| &**n).collect(),
                Kind::Enum(id) => self.enums[id].values.iter().map(|(n, _)| &**n).collect(),
                Kind::MemFlags => crate::sema::builtins::constants::MEMORY_FLAGS
                    .iter()
                    .map(|(n, _)| *n)
                    .collect(),
                _ => Vec::new(),
            };
            let mut names = names;
            names.sort_unstable();
            if let Some(near) = crate::sema::suggest::nearest(name, names) {
                let segment = &segment.ident.name;
                error = error.with_hint(format!("did you mean `{segment}::{near}`?"));
            }
            self.fail(error);
        }
        found
    }

    /// Declares an enum and, unless it is a class, its names around it.
    pub(in crate::sema) fn declare_enum(&mut self, ast: &'a ast::Enum, owner: Option<StructId>) {
        let underlying = match &ast.underlying {
            None => Scalar::I32,
            Some(ty) => {
                let resolved = self.resolve(ty);
                match self.types.kind(resolved.ty) {
                    Kind::Scalar(scalar) if !scalar.is_float() => scalar,
                    Kind::Error => Scalar::I32,
                    _ => {
                        self.fail(Diagnostic::error(ty.span, "an enum holds integers"));
                        Scalar::I32
                    }
                }
            }
        };
        let name = ast
            .name
            .as_ref()
            .map_or_else(|| "unnamed enum".into(), |n| n.name.clone());
        let id: EnumId = self.enums.len();
        self.enums.push(EnumInfo {
            name,
            underlying,
            is_class: ast.is_class,
            values: Vec::new(),
        });
        let ty = self.types.intern(Kind::Enum(id));
        if let Some(name) = &ast.name {
            self.declare_anywhere(owner, name, Entity::Type(Qualified::plain(ty)));
        }
        let mut next = 0i64;
        self.context.scopes.push(HashMap::new());
        let mut made = Vec::new();
        for (name, value) in &ast.enumerators {
            if let Some(value) = value {
                next = self.constant_int(value, "an enumerator").unwrap_or(next);
            }
            // Values that do not fit make an unscoped enum wider, as in C++.
            if ast.underlying.is_none() && wrap(Scalar::I32, next) != next {
                let wider = if (0..=i64::from(u32::MAX)).contains(&next) {
                    Scalar::U32
                } else {
                    Scalar::I64
                };
                self.enums[id].underlying = self.enums[id].underlying.max(wider);
            }
            let value = wrap(self.enums[id].underlying, next);
            self.enums[id].values.push((name.name.clone(), value));
            let entity = Entity::Known(ty, Constant::Int(value));
            self.context.declare(name.name.clone(), entity.clone());
            made.push((name, entity));
            next = next.wrapping_add(1);
        }
        self.context.scopes.pop();
        if !ast.is_class {
            for (name, entity) in made {
                self.declare_anywhere(owner, name, entity);
            }
        }
    }
}
