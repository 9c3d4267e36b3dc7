//! Walks over every expression and every block of a program.

use super::program::*;

/// Calls `visit` with every expression of the kernel and the functions, the whole before its parts.
pub fn expressions(program: &mut Program, visit: &mut impl FnMut(&mut Expression)) {
    for function in &mut program.functions {
        in_block(&mut function.body, visit);
        in_expression(&mut function.value, visit);
    }
    in_block(&mut program.body, visit);
}

/// Calls `visit` with every block, the outer before the inner.
pub fn blocks(program: &mut Program, visit: &mut impl FnMut(&mut Block)) {
    for function in &mut program.functions {
        nested(&mut function.body, visit);
    }
    nested(&mut program.body, visit);
}

fn nested(block: &mut Block, visit: &mut impl FnMut(&mut Block)) {
    visit(block);
    for statement in block {
        match statement {
            Statement::If(_, accept, reject) => {
                nested(accept, visit);
                nested(reject, visit);
            }
            Statement::Loop(looped) => nested(&mut looped.body, visit),
            Statement::Late(late) => {
                nested(&mut late.before, visit);
                nested(&mut late.after, visit);
            }
            Statement::Switch(_, arms) => {
                for arm in arms {
                    nested(&mut arm.body, visit);
                }
            }
            Statement::Block(inner) => nested(inner, visit),
            _ => {}
        }
    }
}

fn in_block(block: &mut Block, visit: &mut impl FnMut(&mut Expression)) {
    for statement in block {
        in_statement(statement, visit);
    }
}

fn in_statement(statement: &mut Statement, visit: &mut impl FnMut(&mut Expression)) {
    match statement {
        Statement::Declare(_, initializer) => in_initializer(initializer, visit),
        Statement::Refer(_, place) => in_place(place, visit),
        Statement::ReadCounter { into, .. } => in_place(into, visit),
        Statement::Evaluate(value)
        | Statement::Return(Some(value))
        | Statement::Output { value, .. }
        | Statement::Count { value, .. } => in_expression(value, visit),
        Statement::If(condition, accept, reject) => {
            in_expression(condition, visit);
            in_block(accept, visit);
            in_block(reject, visit);
        }
        Statement::Loop(looped) => {
            in_expression(&mut looped.bound, visit);
            if let Some(condition) = &mut looped.condition {
                in_expression(condition, visit);
            }
            in_block(&mut looped.body, visit);
        }
        Statement::Late(late) => {
            in_block(&mut late.before, visit);
            in_expression(&mut late.value, visit);
            in_block(&mut late.after, visit);
        }
        Statement::Switch(selector, arms) => {
            in_expression(selector, visit);
            for arm in arms {
                in_block(&mut arm.body, visit);
            }
        }
        Statement::Block(inner) => in_block(inner, visit),
        Statement::Break | Statement::Continue | Statement::Return(None) => {}
        Statement::Exchange {
            into,
            value,
            distance: other,
        }
        | Statement::Shuffle {
            into,
            value,
            lane: other,
            ..
        } => {
            in_place(into, visit);
            in_expression(value, visit);
            in_expression(other, visit);
        }
    }
}

fn in_initializer(initializer: &mut Initializer, visit: &mut impl FnMut(&mut Expression)) {
    match initializer {
        Initializer::Value(value) => in_expression(value, visit),
        Initializer::Braced(parts) => {
            for part in parts {
                in_initializer(part, visit);
            }
        }
    }
}

fn in_place(place: &mut Place, visit: &mut impl FnMut(&mut Expression)) {
    match place {
        Place::Variable(_) => {}
        Place::Member(base, _) | Place::Components(base, _) => in_place(base, visit),
        Place::Element(base, index) => {
            in_place(base, visit);
            in_expression(index, visit);
        }
        Place::Pointee(pointer, index) => {
            in_expression(pointer, visit);
            in_expression(index, visit);
        }
    }
}

fn in_expression(expression: &mut Expression, visit: &mut impl FnMut(&mut Expression)) {
    use Expression as E;
    visit(expression);
    match expression {
        E::Literal(..) | E::Builtin(_) | E::Shared(_) => {}
        E::Splat(_, _, operand)
        | E::Unary(_, operand)
        | E::Convert(_, operand)
        | E::Reinterpret(_, operand)
        | E::Bits(operand)
        | E::Ballot(operand)
        | E::Swizzle(operand, _)
        | E::Lanes(_, operand)
        | E::Input(_, operand) => in_expression(operand, visit),
        E::Compose(_, parts) | E::Math(_, parts) => {
            for part in parts {
                in_expression(part, visit);
            }
        }
        E::Load(place) | E::AddressOf(place) | E::Decay(place) | E::Increment(place, _) => {
            in_place(place, visit);
        }
        E::Binary(_, left, right)
        | E::Components(_, _, left, right)
        | E::And(left, right)
        | E::Or(left, right)
        | E::Comma(left, right) => {
            in_expression(left, visit);
            in_expression(right, visit);
        }
        E::Choose(condition, accept, reject) => {
            in_expression(condition, visit);
            in_expression(accept, visit);
            in_expression(reject, visit);
        }
        E::Call(_, arguments) => {
            for argument in arguments {
                match argument {
                    Argument::Value(value) => in_expression(value, visit),
                    Argument::Reference(place) => in_place(place, visit),
                }
            }
        }
        E::Assign(place, value) | E::Compound(place, _, value) => {
            in_place(place, visit);
            in_expression(value, visit);
        }
    }
}
