//! Copies that change nothing are left out.
//!
//! The translation makes a copy of every variable that it reads. Two passes take most of them away:
//! [`forward`] puts values in the place of variables that are set once, before they are read, and
//! [`share`] lets a copy be the variable itself where nothing sets the variable while the copy is
//! needed.

use std::collections::HashMap;

use super::form::{Block, Compute, Lowered, Node, Reg};
use super::survey::{Survey, Use};

/// Puts the value in the place of each variable that is set once, before all that reads it.
pub fn forward(lowered: &mut Lowered) {
    let survey = Survey::new(lowered);
    let mut stands_for = HashMap::new();
    collect(&lowered.body, &mut |node| match node {
        Node::Set { var, value } if is_set_before_reads(&survey, *var) => {
            stands_for.insert(*var, *value);
        }
        Node::Compute {
            op: Compute::Copy,
            dst,
            args,
        } => {
            // A copy of what is no variable in the end is no copy.
            stands_for.insert(*dst, args[0]);
        }
        _ => {}
    });
    let is_variable = &lowered.is_variable;
    let value_of = |mut reg: Reg| {
        let mut last_value = reg;
        while let Some(&next) = stands_for.get(&reg) {
            reg = next;
            // What a variable is later may differ from what its copy is.
            if !is_variable[reg as usize] {
                last_value = reg;
            } else if !stands_for.contains_key(&reg) {
                break;
            }
        }
        last_value
    };
    replace(&mut lowered.body, &value_of, &|node| match node {
        Node::Set { var, .. } => value_of(*var) != *var,
        Node::Compute {
            op: Compute::Copy,
            dst,
            ..
        } => value_of(*dst) != *dst,
        _ => false,
    });
}

fn is_set_before_reads(survey: &Survey, var: Reg) -> bool {
    let references = &survey.references[var as usize];
    let mut sets = references.iter().filter(|r| r.way != Use::Read);
    let (Some(set), None) = (sets.next(), sets.next()) else {
        return false;
    };
    set.way == Use::Set
        && survey.group(var).len() == 1
        && references.iter().all(|r| {
            r.way == Use::Set || (r.position > set.position && survey.is_inside(r.block, set.block))
        })
}

/// Lets copies be the variables that they are of, where nothing sets those meanwhile.
pub fn share(lowered: &mut Lowered) {
    let survey = Survey::new(lowered);
    let mut stands_for = HashMap::new();
    collect(&lowered.body, &mut |node| {
        if let Node::Compute {
            op: Compute::Copy,
            dst,
            args,
        } = node
            && is_kept(&survey, *dst, args[0])
        {
            stands_for.insert(*dst, args[0]);
        }
    });
    let variable_of = |reg: Reg| stands_for.get(&reg).copied().unwrap_or(reg);
    replace(&mut lowered.body, &variable_of, &|node| match node {
        Node::Compute {
            op: Compute::Copy,
            dst,
            ..
        } => stands_for.contains_key(dst),
        _ => false,
    });
}

/// Whether a variable is the same from where it is copied until the copy is needed last.
fn is_kept(survey: &Survey, copy: Reg, var: Reg) -> bool {
    let Some(made) = survey.references[copy as usize]
        .iter()
        .find(|r| r.way == Use::Set)
    else {
        return false;
    };
    let (_, last) = survey.life(copy, made.block);
    !survey.references[var as usize]
        .iter()
        .any(|r| r.way != Use::Read && r.position > made.position && r.position <= last)
}

/// Calls `visit` with every node, in source order.
fn collect(block: &Block, visit: &mut dyn FnMut(&Node)) {
    for node in block {
        visit(node);
        node.blocks().for_each(|inner| collect(inner, visit));
    }
}

/// Leaves out the nodes that `is_needless` names, and puts other registers in the place of those read.
fn replace(block: &mut Block, by: &dyn Fn(Reg) -> Reg, is_needless: &dyn Fn(&Node) -> bool) {
    block.retain(|node| !is_needless(node));
    for node in block {
        node.for_each_read_mut(&mut |reg| *reg = by(*reg));
        node.blocks_mut()
            .for_each(|inner| replace(inner, by, is_needless));
    }
}
