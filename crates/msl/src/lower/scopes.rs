//! Scopes that nobody leaves early are none: their code stands where they stood, and what it sets is
//! set for what follows.

use std::collections::HashSet;

use super::form::{Block, Lowered, Node, ScopeId};

/// Takes away the scopes that no [`Node::Leave`] names.
pub fn simplify(lowered: &mut Lowered) {
    let mut left = HashSet::new();
    collect(&lowered.body, &mut left);
    splice(&mut lowered.body, &left);
}

fn collect(block: &Block, left: &mut HashSet<ScopeId>) {
    for node in block {
        if let Node::Leave(scope) = node {
            left.insert(*scope);
        }
        node.blocks().for_each(|inner| collect(inner, left));
    }
}

fn splice(block: &mut Block, left: &HashSet<ScopeId>) {
    let mut out = Block::with_capacity(block.len());
    for mut node in std::mem::take(block) {
        node.blocks_mut().for_each(|inner| splice(inner, left));
        match node {
            Node::Scope(id, body) if !left.contains(&id) => out.extend(body),
            other => out.push(other),
        }
    }
    *block = out;
}
