//! From the IR of a kernel to one typed body: calls inlined, early exits made leaves of scopes, and
//! branches that function constants decide dropped, with what only they reach.

use std::collections::HashMap;

use super::constant::{Known, integer_value, scalar_of};
use super::typed::{Arm, Block, Inlined, Loop, Node, ScopeId, for_each_in_place, for_each_operand};
use super::{FunctionConstants, Result, memory, unsupported};
use crate::diag::Span;
use crate::ir::{
    BarrierScope, Function, FunctionConstant, Handle, Kernel, Literal, Local, Module, Op, Place,
    PlaceBase, Scalar, Statement, Value,
};

/// Calls may be nested this deeply.
const DEPTH_LIMIT: usize = 200;

/// Values that an inlined kernel may have.
const VALUE_LIMIT: usize = 1 << 20;

/// Inlines a kernel.
pub fn inline(module: &Module, kernel: &Kernel, constants: &FunctionConstants) -> Result<Inlined> {
    let mut inliner = Inliner {
        module,
        constants,
        out: Inlined::default(),
        blocks: vec![Block::new()],
        frames: Vec::new(),
        known: Known::default(),
        threadgroup: HashMap::new(),
    };
    let function = &module.functions[kernel.function];
    for param in &function.params {
        let local = &function.locals[*param];
        let value = inliner.value(Value {
            ty: local.ty,
            span: local.span,
        })?;
        inliner.out.inputs.push(value);
    }
    let inputs = inliner.out.inputs.clone();
    inliner.call(kernel.function, &inputs)?;
    let mut out = inliner.out;
    out.body = inliner.blocks.pop().unwrap_or_default();
    Ok(out)
}

/// One call.
struct Frame<'a> {
    function: Handle<Function>,
    values: Vec<Option<Handle<Value>>>,
    /// The first local of the call; the function's others follow.
    first_local: usize,
    exit: Exit,
    /// Scopes that `break` and `continue` leave.
    breaks: Vec<ScopeId>,
    continues: Vec<ScopeId>,
    body: &'a Function,
}

/// What a `return` does.
enum Exit {
    /// It is the last statement: the call stands for this value.
    End(Option<Handle<Value>>),
    /// It sets a variable and leaves a scope.
    Leave(ScopeId, Option<Handle<Local>>),
}

struct Inliner<'a> {
    module: &'a Module,
    constants: &'a FunctionConstants,
    out: Inlined,
    blocks: Vec<Block>,
    frames: Vec<Frame<'a>>,
    known: Known,
    threadgroup: HashMap<(Handle<Function>, Handle<Local>), Handle<Local>>,
}

impl<'a> Inliner<'a> {
    fn value(&mut self, value: Value) -> Result<Handle<Value>> {
        if self.out.values.len() >= VALUE_LIMIT {
            let message = "the kernel is too large once its calls are inlined";
            return Err(unsupported(value.span, message));
        }
        Ok(self.out.values.push(value))
    }

    fn emit(&mut self, node: Node) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(node);
        }
    }

    fn define(&mut self, value: Handle<Value>, op: Op) {
        let (values, types) = (&self.out.values, &self.module.types);
        self.known
            .learn(value, &op, &|v| scalar_of(types, &values[v]));
        self.emit(Node::Let(value, op));
    }

    fn nested(&mut self, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<Block> {
        self.blocks.push(Block::new());
        let done = body(self);
        let block = self.blocks.pop().unwrap_or_default();
        done.map(|()| block)
    }

    fn scope(&mut self) -> ScopeId {
        self.out.scopes += 1;
        self.out.scopes - 1
    }

    fn frame(&mut self) -> &mut Frame<'a> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Runs a function in place; gives what it returns.
    fn call(
        &mut self,
        callee: Handle<Function>,
        args: &[Handle<Value>],
    ) -> Result<Option<Handle<Value>>> {
        let module = self.module;
        let function = &module.functions[callee];
        if self.frames.len() > DEPTH_LIMIT {
            return Err(unsupported(function.span, "calls are nested too deeply"));
        }
        let first_local = self.out.locals.len();
        for (_, local) in function.locals.iter() {
            self.out.locals.push(local.clone());
        }
        for (handle, variable) in function.threadgroup.iter() {
            let shared = &mut self.out.threadgroup;
            self.threadgroup
                .entry((callee, handle))
                .or_insert_with(|| shared.push(variable.clone()));
        }
        let exit = if returns_at_the_end(function) {
            Exit::End(None)
        } else {
            let result = match module.types[function.result] {
                crate::ir::Type::Void => None,
                _ => Some(self.out.locals.push(Local {
                    name: function.name.clone(),
                    ty: function.result,
                    span: function.span,
                })),
            };
            Exit::Leave(self.scope(), result)
        };
        self.frames.push(Frame {
            function: callee,
            values: vec![None; function.values.len()],
            first_local,
            exit,
            breaks: Vec::new(),
            continues: Vec::new(),
            body: function,
        });
        for (param, &value) in function.params.iter().zip(args) {
            let span = function.locals[*param].span;
            let place = self.whole(*param);
            self.emit(Node::Store { place, value, span });
        }
        let body = self.nested(|this| this.block(&function.body))?;
        let Some(frame) = self.frames.pop() else {
            return Ok(None);
        };
        match frame.exit {
            Exit::End(value) => {
                body.into_iter().for_each(|node| self.emit(node));
                Ok(value)
            }
            Exit::Leave(scope, result) => {
                self.emit(Node::Scope(scope, body));
                let Some(result) = result else {
                    return Ok(None);
                };
                let (ty, span) = (function.result, function.span);
                let value = self.value(Value { ty, span })?;
                let place = Place {
                    base: PlaceBase::Local(result),
                    path: Vec::new(),
                    ty,
                };
                self.define(value, Op::Load(place));
                Ok(Some(value))
            }
        }
    }

    /// The place of a whole variable of the current call.
    fn whole(&mut self, local: Handle<Local>) -> Place {
        let frame = self.frame();
        Place {
            base: PlaceBase::Local(Handle::from_index(frame.first_local + local.index())),
            path: Vec::new(),
            ty: frame.body.locals[local].ty,
        }
    }

    // ---- names of the function to names of the body ----

    fn mapped(&mut self, value: Handle<Value>) -> Result<Handle<Value>> {
        let frame = self.frame();
        let mapped = frame.values.get(value.index()).copied().flatten();
        mapped.ok_or_else(|| {
            let span = frame.body.values[value].span;
            unsupported(span, "internal: a value is used before it is made")
        })
    }

    /// The same place with the variables of this call.
    fn rebase(&mut self, place: &mut Place) {
        let frame = self.frame();
        let (function, first) = (frame.function, frame.first_local);
        place.base = match place.base {
            PlaceBase::Local(local) => PlaceBase::Local(Handle::from_index(first + local.index())),
            PlaceBase::Threadgroup(variable) => {
                let shared = self.threadgroup.get(&(function, variable));
                PlaceBase::Threadgroup(shared.copied().unwrap_or(variable))
            }
            other => other,
        };
    }

    fn place(&mut self, place: &Place) -> Result<Place> {
        let mut place = place.clone();
        self.rebase(&mut place);
        let mut done = Ok(());
        for_each_in_place(&mut place, &mut |value| match self.mapped(*value) {
            Ok(mapped) => *value = mapped,
            Err(error) => done = Err(error),
        });
        done.map(|()| place)
    }

    fn op(&mut self, op: &Op) -> Result<Op> {
        let mut op = op.clone();
        if let Op::Load(place) | Op::AddressOf(place) | Op::Atomic { place, .. } = &mut op {
            self.rebase(place);
        }
        let mut done = Ok(());
        for_each_operand(&mut op, &mut |value| match self.mapped(*value) {
            Ok(mapped) => *value = mapped,
            Err(error) => done = Err(error),
        });
        done.map(|()| op)
    }

    // ---- statements ----

    fn block(&mut self, block: &'a [Statement]) -> Result<()> {
        for statement in block {
            self.statement(statement)?;
            // What follows an exit is never reached.
            let last = self.blocks.last().and_then(|block| block.last());
            if matches!(last, Some(Node::Leave(_))) {
                break;
            }
        }
        Ok(())
    }

    fn statement(&mut self, statement: &'a Statement) -> Result<()> {
        match statement {
            Statement::Let(value, op) => self.compute(*value, op),
            Statement::Store { place, value, span } => {
                let (place, value) = (self.place(place)?, self.mapped(*value)?);
                let span = *span;
                self.emit(Node::Store { place, value, span });
                Ok(())
            }
            Statement::If {
                condition,
                accept,
                reject,
                ..
            } => {
                let condition = self.mapped(*condition)?;
                if let Some(bits) = self.known.get(condition) {
                    return self.block(if bits != 0 { accept } else { reject });
                }
                let accept = self.nested(|this| this.block(accept))?;
                let reject = self.nested(|this| this.block(reject))?;
                self.emit(Node::If {
                    condition,
                    accept,
                    reject,
                });
                Ok(())
            }
            Statement::Loop {
                header,
                condition,
                body,
                step,
                test_first,
                ..
            } => {
                let (leave, next) = (self.scope(), self.scope());
                let header = self.nested(|this| this.block(header))?;
                let condition = self.mapped(*condition)?;
                self.frame().breaks.push(leave);
                self.frame().continues.push(next);
                let body = self.nested(|this| this.block(body))?;
                self.frame().breaks.pop();
                self.frame().continues.pop();
                let step = self.nested(|this| this.block(step))?;
                let test_first = *test_first;
                self.emit(Node::Loop(Box::new(Loop {
                    header,
                    condition,
                    body,
                    step,
                    test_first,
                    leave,
                    next,
                })));
                Ok(())
            }
            Statement::Switch { selector, arms, .. } => self.switch(*selector, arms),
            Statement::Break(span) => {
                let scope = self.frame().breaks.last().copied();
                self.leave(scope, *span)
            }
            Statement::Continue(span) => {
                let scope = self.frame().continues.last().copied();
                self.leave(scope, *span)
            }
            Statement::Return(value, span) => {
                let value = value.map(|v| self.mapped(v)).transpose()?;
                let (scope, result) = match &mut self.frame().exit {
                    Exit::End(returned) => {
                        *returned = value;
                        return Ok(());
                    }
                    Exit::Leave(scope, result) => (*scope, *result),
                };
                if let (Some(result), Some(value)) = (result, value) {
                    let place = Place {
                        base: PlaceBase::Local(result),
                        path: Vec::new(),
                        ty: self.out.values[value].ty,
                    };
                    let span = *span;
                    self.emit(Node::Store { place, value, span });
                }
                self.leave(Some(scope), *span)
            }
            Statement::Barrier { scope, .. } => {
                if *scope == BarrierScope::Threadgroup {
                    self.emit(Node::Barrier);
                }
                Ok(())
            }
        }
    }

    fn leave(&mut self, scope: Option<ScopeId>, span: Span) -> Result<()> {
        let scope = scope.ok_or_else(|| unsupported(span, "internal: nothing here to leave"))?;
        self.emit(Node::Leave(scope));
        Ok(())
    }

    fn switch(&mut self, selector: Handle<Value>, arms: &'a [crate::ir::SwitchArm]) -> Result<()> {
        let selector = self.mapped(selector)?;
        let leave = self.scope();
        self.frame().breaks.push(leave);
        let types = &self.module.types;
        let scalar = scalar_of(types, &self.out.values[selector]);
        let known = self.known.get(selector).zip(scalar);
        let mut arms = arms;
        if let Some(value) = known.and_then(|(bits, scalar)| integer_value(bits, scalar)) {
            // Only the arms from the one that is met on.
            let met = arms.iter().position(|arm| arm.values.contains(&value));
            let met = met.or_else(|| arms.iter().position(|arm| arm.is_default));
            arms = met.map_or(&[], |first| &arms[first..]);
            let body = self.nested(|this| arms.iter().try_for_each(|arm| this.block(&arm.body)))?;
            self.frame().breaks.pop();
            self.emit(Node::Scope(leave, body));
            return Ok(());
        }
        let arms = arms
            .iter()
            .map(|arm| {
                Ok(Arm {
                    values: arm.values.clone(),
                    is_default: arm.is_default,
                    body: self.nested(|this| this.block(&arm.body))?,
                })
            })
            .collect::<Result<_>>()?;
        self.frame().breaks.pop();
        self.emit(Node::Switch {
            selector,
            arms,
            leave,
        });
        Ok(())
    }

    fn compute(&mut self, value: Handle<Value>, op: &'a Op) -> Result<()> {
        let result = match op {
            Op::Call(callee, args) => {
                let args = args
                    .iter()
                    .map(|&arg| self.mapped(arg))
                    .collect::<Result<Vec<_>>>()?;
                self.call(*callee, &args)?
            }
            _ => {
                let info = self.frame().body.values[value];
                let op = match op {
                    Op::FunctionConstant(constant) => self.constant(*constant, info),
                    Op::FunctionConstantDefined(constant) => {
                        let index = self.module.function_constants[*constant].index;
                        Op::Literal(Literal::Bool(self.constants.contains_key(&index)))
                    }
                    _ => self.op(op)?,
                };
                let mapped = self.value(info)?;
                self.define(mapped, op);
                Some(mapped)
            }
        };
        self.frame().values[value.index()] = result;
        Ok(())
    }

    /// A scalar function constant that has a value is a literal; others stay.
    fn constant(&self, handle: Handle<FunctionConstant>, value: Value) -> Op {
        let index = self.module.function_constants[handle].index;
        let scalar = scalar_of(&self.module.types, &value);
        let bytes = self.constants.get(&index);
        match (scalar, bytes) {
            (Some(scalar), Some(bytes)) if bytes.len() >= scalar.size() as usize => {
                let bits = memory::bits_of_bytes(bytes, scalar);
                Op::Literal(match scalar {
                    Scalar::Bool => Literal::Bool(bits != 0),
                    _ => match integer_value(bits, scalar) {
                        Some(value) => Literal::Int(value),
                        None => Literal::Float(f32::from_bits(bits as u32)),
                    },
                })
            }
            _ => Op::FunctionConstant(handle),
        }
    }
}

/// Whether a function returns nowhere but in its last statement.
fn returns_at_the_end(function: &Function) -> bool {
    match function.body.split_last() {
        Some((last, rest)) => !rest.iter().any(returns) && !returns_inside(last),
        None => true,
    }
}

fn returns(statement: &Statement) -> bool {
    matches!(statement, Statement::Return(..)) || returns_inside(statement)
}

fn returns_inside(statement: &Statement) -> bool {
    match statement {
        Statement::If { accept, reject, .. } => accept.iter().chain(reject).any(returns),
        Statement::Loop {
            header, body, step, ..
        } => header.iter().chain(body).chain(step).any(returns),
        Statement::Switch { arms, .. } => arms.iter().any(|arm| arm.body.iter().any(returns)),
        _ => false,
    }
}
