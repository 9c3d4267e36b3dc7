//! Makes a program smaller as long as it stays interesting.
//!
//! Every edit keeps the program well-defined: what is nested in uniform control flow only moves
//! outwards, a part stands for its whole, and a program that lost a declaration it needs is refused
//! by the compiler and so is not interesting.

use super::program::*;
use super::visit;

/// Candidates that are judged together.
const BATCH: usize = 16;

/// One change of a program.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// Drops statements of a block: block, first, how many.
    Drop(usize, usize, usize),
    /// Puts a part of a statement in its place: block, index, which part.
    Unwrap(usize, usize, usize),
    /// Puts a part or a constant in the place of an expression: which, and what.
    Replace(usize, usize),
    /// Drops a parameter of a function: function, index.
    DropParameter(usize, usize),
    /// Sizes of the grid and of threadgroups.
    Sizes(u32, u32),
}

/// The smallest program found, with at most `tries` candidates. `first_interesting` tells which of
/// some candidates is the first that is interesting.
pub fn shrink(
    mut program: Program,
    mut tries: usize,
    first_interesting: &mut impl FnMut(&[Program]) -> Option<usize>,
) -> Program {
    loop {
        let mut progress = false;
        for family in [drops, unwraps, replacements, parameters, sizes] {
            let mut position = 0;
            let mut edits = family(&program);
            while position < edits.len() && tries > 0 {
                let end = edits.len().min(position + BATCH);
                let (mut candidates, mut places) = (Vec::new(), Vec::new());
                for (place, edit) in edits.iter().enumerate().take(end).skip(position) {
                    if let Some(candidate) = apply(&program, *edit) {
                        candidates.push(candidate);
                        places.push(place);
                    }
                }
                tries = tries.saturating_sub(candidates.len());
                match first_interesting(&candidates) {
                    Some(index) => {
                        program = candidates.swap_remove(index);
                        position = places[index];
                        edits = family(&program);
                        progress = true;
                    }
                    None => position = end,
                }
            }
        }
        if !progress || tries == 0 {
            return program;
        }
    }
}

fn block_lengths(program: &Program) -> Vec<usize> {
    let mut lengths = Vec::new();
    visit::blocks(&mut program.clone(), &mut |b| lengths.push(b.len()));
    lengths
}

/// Long runs of statements first.
fn drops(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (block, length) in block_lengths(program).into_iter().enumerate() {
        let mut size = length;
        while size > 0 {
            let starts = (0..length).step_by(size).filter(|s| s + size <= length);
            // From the end: what comes later uses what comes earlier.
            edits.extend(starts.rev().map(|start| Edit::Drop(block, start, size)));
            size /= 2;
        }
    }
    edits.sort_by_key(|edit| match edit {
        Edit::Drop(_, _, size) => std::cmp::Reverse(*size),
        _ => std::cmp::Reverse(0),
    });
    edits
}

fn unwraps(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut block_index = 0;
    visit::blocks(&mut program.clone(), &mut |block| {
        for (index, statement) in block.iter().enumerate() {
            let parts = parts_of_statement(statement).len();
            edits.extend((0..parts).map(|part| Edit::Unwrap(block_index, index, part)));
        }
        block_index += 1;
    });
    edits
}

fn replacements(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut index = 0;
    visit::expressions(&mut program.clone(), &mut |expression| {
        let parts = parts_of_expression(program, expression).len();
        edits.extend((0..parts).map(|part| Edit::Replace(index, part)));
        index += 1;
    });
    edits
}

fn parameters(program: &Program) -> Vec<Edit> {
    let functions = program.functions.iter().enumerate();
    functions
        .flat_map(|(index, function)| {
            (0..function.parameters.len()).map(move |p| Edit::DropParameter(index, p))
        })
        .collect()
}

fn sizes(program: &Program) -> Vec<Edit> {
    let (grid, group) = (program.grid, program.threadgroup);
    let smaller = |now: u32| {
        [1, 2, 3, now / 2, now - 1]
            .into_iter()
            .filter(move |size| *size > 0 && *size < now)
    };
    let grids = smaller(grid).map(|grid| Edit::Sizes(grid, group));
    let groups = smaller(group).map(|group| Edit::Sizes(grid, group));
    grids.chain(groups).collect()
}

fn apply(program: &Program, edit: Edit) -> Option<Program> {
    let mut changed = program.clone();
    let mut done = false;
    match edit {
        Edit::Drop(at, start, size) => {
            let mut index = 0;
            visit::blocks(&mut changed, &mut |block| {
                if index == at && start + size <= block.len() {
                    block.drain(start..start + size);
                    done = true;
                }
                index += 1;
            });
        }
        Edit::Unwrap(at, statement, part) => {
            let mut index = 0;
            visit::blocks(&mut changed, &mut |block| {
                if index == at && statement < block.len() {
                    let mut parts = parts_of_statement(&block[statement]);
                    if part < parts.len() {
                        block.splice(statement..=statement, parts.swap_remove(part));
                        done = true;
                    }
                }
                index += 1;
            });
        }
        Edit::Replace(at, part) => {
            let mut index = 0;
            visit::expressions(&mut changed, &mut |expression| {
                if index == at {
                    let mut parts = parts_of_expression(program, expression);
                    if part < parts.len() {
                        *expression = parts.swap_remove(part);
                        done = true;
                    }
                }
                index += 1;
            });
        }
        Edit::DropParameter(function, parameter) => {
            changed.functions[function].parameters.remove(parameter);
            visit::expressions(&mut changed, &mut |expression| {
                if let Expression::Call(callee, arguments) = expression
                    && *callee == function
                {
                    arguments.remove(parameter);
                }
            });
            done = true;
        }
        Edit::Sizes(grid, threadgroup) => {
            (changed.grid, changed.threadgroup) = (grid, threadgroup);
            done = true;
        }
    }
    done.then_some(changed)
}

/// What could stand for a statement.
fn parts_of_statement(statement: &Statement) -> Vec<Block> {
    match statement {
        Statement::If(condition, accept, reject) => {
            let mut parts = vec![
                accept.clone(),
                reject.clone(),
                vec![Statement::Evaluate(condition.clone())],
            ];
            if !reject.is_empty() {
                let only = |accept: &Block, reject: &Block| {
                    vec![Statement::If(
                        condition.clone(),
                        accept.clone(),
                        reject.clone(),
                    )]
                };
                parts.push(only(accept, &Vec::new()));
                let not = Expression::Unary(Unary::Not, Box::new(condition.clone()));
                parts.push(vec![Statement::If(not, reject.clone(), Vec::new())]);
            }
            parts
        }
        Statement::Loop(looped) => {
            let zero = Initializer::Value(Expression::Literal(Scalar::Uint, 0));
            let mut once = vec![Statement::Declare(looped.counter, zero)];
            once.extend(looped.body.clone());
            let mut parts = vec![looped.body.clone(), once];
            if looped.condition.is_some() {
                parts.push(vec![Statement::Loop(Loop {
                    condition: None,
                    ..looped.clone()
                })]);
            }
            if looped.kind != LoopKind::For {
                parts.push(vec![Statement::Loop(Loop {
                    kind: LoopKind::For,
                    ..looped.clone()
                })]);
            }
            parts
        }
        Statement::Late(late) => {
            let zero = Initializer::Value(Expression::Literal(Scalar::Uint, 0));
            let set = Initializer::Value(late.value.clone());
            let mut once = vec![
                Statement::Declare(late.counter, zero),
                Statement::Declare(late.variable, set),
            ];
            once.extend(late.before.iter().chain(&late.after).cloned());
            vec![once]
        }
        Statement::Switch(selector, arms) => {
            let mut parts: Vec<Block> = arms.iter().map(|arm| arm.body.clone()).collect();
            for index in 0..arms.len() {
                let mut arms = arms.clone();
                arms.remove(index);
                if !arms.is_empty() {
                    parts.push(vec![Statement::Switch(selector.clone(), arms)]);
                }
            }
            parts
        }
        Statement::Block(inner) => vec![inner.clone()],
        Statement::Output {
            slot,
            value,
            mix: true,
        } => vec![vec![Statement::Output {
            slot: *slot,
            value: value.clone(),
            mix: false,
        }]],
        _ => Vec::new(),
    }
}

/// What could stand for an expression: constants, and its parts of the same type.
fn parts_of_expression(program: &Program, expression: &Expression) -> Vec<Expression> {
    use Expression as E;
    let ty = program.type_of(expression);
    let mut parts = Vec::new();
    match (&ty, expression) {
        (_, E::Literal(..)) => return parts,
        (Type::Vector(..), E::Splat(_, _, value)) if matches!(**value, E::Literal(..)) => {
            return parts;
        }
        (Type::Scalar(scalar), _) => {
            parts.extend([0, 1].map(|value| E::Literal(*scalar, value)));
        }
        (Type::Vector(scalar, length), _) => {
            let zero = Box::new(E::Literal(*scalar, 0));
            parts.push(E::Splat(*scalar, *length, zero));
        }
        _ => {}
    }
    let mut consider = |part: &Expression| {
        if program.type_of(part) == ty {
            parts.push(part.clone());
        }
    };
    match expression {
        E::Unary(_, operand)
        | E::Lanes(_, operand)
        | E::Splat(_, _, operand)
        | E::Swizzle(operand, _)
        | E::Convert(_, operand)
        | E::Reinterpret(_, operand)
        | E::Bits(operand)
        | E::Ballot(operand)
        | E::Input(_, operand) => consider(operand),
        E::Binary(_, left, right)
        | E::Components(_, _, left, right)
        | E::And(left, right)
        | E::Or(left, right)
        | E::Comma(left, right) => {
            consider(left);
            consider(right);
        }
        E::Choose(condition, accept, reject) => {
            consider(condition);
            consider(accept);
            consider(reject);
        }
        E::Compose(_, operands) | E::Math(_, operands) => operands.iter().for_each(consider),
        E::Call(_, arguments) => {
            for argument in arguments {
                if let Argument::Value(value) = argument {
                    consider(value);
                }
            }
        }
        E::Assign(_, value) | E::Compound(_, _, value) => consider(value),
        E::Literal(..)
        | E::Load(_)
        | E::AddressOf(_)
        | E::Decay(_)
        | E::Increment(..)
        | E::Builtin(_)
        | E::Shared(_) => {}
    }
    parts
}
