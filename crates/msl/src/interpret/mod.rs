//! The IR executed as its documentation says, one thread after another: the oracle that the other
//! back ends are compared with, and the checker of kernels.
//!
//! It is written for clarity alone. A function becomes a row of `steps`; a `thread` is a stack
//! of calls with their values; a value is its bytes. Threadgroups run one after another, x fastest,
//! and within one each thread runs alone until it needs others, as `groups` explains.
//!
//! What the language leaves open has one value here: memory that nothing wrote is zero, and so is
//! what a shuffle reads from a lane that takes no part.
//!
//! With [`Dispatch::check`] it also looks for what a kernel must not do though it goes well here:
//! see [`FindingKind`]. Only a barrier that names the memory orders two accesses, within the
//! threadgroup or SIMD-group that meets at it; threads of different threadgroups are never ordered.
//! A variable counts as written from its first write in a call on, also in later rounds of a loop.

mod arithmetic;
mod check;
mod findings;
mod groups;
mod lanes;
mod matrices;
mod memory;
mod operations;
mod races;
mod steps;
mod thread;
mod values;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

pub use findings::{Finding, FindingKind, SourcePlace};

use crate::Compilation;
use crate::diag::{Sources, Span};
use crate::exec::{Fault, FaultKind, FunctionConstants};
use crate::ir::{
    AddressSpace, Argument, Binding, Builtin, Function, Handle, Kernel, Local, Module,
};
use check::Checker;
use memory::{Memory, ObjectNumber, Space, pointer};
use steps::Code;
use thread::Thread;
use values::{Data, Number, Shapes};

/// Lanes of a SIMD-group.
const SIMD_WIDTH: usize = 32;

/// One run of a kernel over a grid.
pub struct Dispatch<'a> {
    /// Threads in x, y, z.
    pub grid: [u64; 3],
    /// Threads of a full threadgroup; the last one in a dimension may be smaller.
    pub threadgroup: [u64; 3],
    /// The buffer at each index.
    pub buffers: &'a mut [Option<&'a mut [u8]>],
    /// Bytes of threadgroup memory for `[[threadgroup(n)]]` arguments: index and length.
    pub threadgroup_memory: &'a [(u32, usize)],
    /// Values of function constants.
    pub constants: &'a FunctionConstants,
    /// Whether to look for what a kernel must not do. It makes the run several times slower.
    pub check: bool,
    /// The most steps that all threads together may take.
    pub step_limit: Option<u64>,
    /// Set to true by anyone, it ends the run early.
    pub interrupt: Option<&'a AtomicBool>,
}

/// Why a run came to no end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text has no kernel of this name.
    #[error("there is no kernel `{name}`; the source has {}", crate::exec::list(.known))]
    UnknownKernel {
        /// The name asked for.
        name: String,
        /// The kernels that exist.
        known: Vec<String>,
    },
    /// The kernel used memory that it must not.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The kernel needs a function constant that was given no value.
    #[error("kernel `{kernel}`, {place}: function constant `{name}` (index {index}) has no value")]
    MissingConstant {
        /// The kernel.
        kernel: String,
        /// File, line and column of its use.
        place: String,
        /// Its name.
        name: String,
        /// Its index.
        index: u32,
    },
    /// The threads took more steps than they may.
    #[error("kernel `{kernel}`, {place}, thread ({}, {}, {}): not done after {limit} steps", thread[0], thread[1], thread[2])]
    StepLimit {
        /// The kernel.
        kernel: String,
        /// File, line and column of the step that was one too many.
        place: String,
        /// The thread that would have taken it.
        thread: [u64; 3],
        /// How many steps were allowed.
        limit: u64,
    },
    /// The run was interrupted.
    #[error("kernel `{kernel}` was interrupted")]
    Interrupted {
        /// The kernel.
        kernel: String,
    },
}

type Result<T, E = Error> = std::result::Result<T, E>;

/// Runs a kernel over a grid, and says what the checker found; without it, nothing.
///
/// # Errors
///
/// There is no such kernel, it used memory that it must not or a function constant without a
/// value, or the run was cut short. What it wrote before stays written.
pub fn run(
    compilation: &Compilation,
    kernel: &str,
    dispatch: Dispatch<'_>,
) -> Result<Vec<Finding>> {
    let module = &compilation.module;
    let found = module.kernels.iter().find(|known| &*known.name == kernel);
    let found = found.ok_or_else(|| Error::UnknownKernel {
        name: kernel.to_string(),
        known: module.kernels.iter().map(|k| k.name.to_string()).collect(),
    })?;
    let code: Vec<_> = module.functions.iter().map(|(_, f)| Code::new(f)).collect();
    let full = dispatch.threadgroup.map(|n| n.max(1));
    let grid = Grid {
        threads: dispatch.grid,
        full,
        groups: std::array::from_fn(|d| dispatch.grid[d].div_ceil(full[d])),
    };
    let sources: &Sources = &compilation.sources;
    let mut machine = Machine {
        module,
        kernel: found,
        sources,
        code: &code,
        shapes: Shapes::new(&module.types),
        memory: Memory::new(dispatch.buffers),
        constants: Vec::new(),
        threadgroup_variables: HashMap::new(),
        function_constants: dispatch.constants,
        checker: dispatch.check.then(|| Checker::new(sources)),
        barriers: 0,
        steps: 0,
        step_limit: dispatch.step_limit,
        interrupt: dispatch.interrupt,
    };
    machine.add_constants();
    let buffers = machine.add_buffers();
    let [x, y, z] = grid.groups;
    for number in 0..x.saturating_mul(y).saturating_mul(z) {
        machine.run_group(&grid.group(number), &buffers, dispatch.threadgroup_memory)?;
    }
    Ok(machine.checker.map_or_else(Vec::new, Checker::finish))
}

/// All that threads share.
struct Machine<'m, 'd> {
    module: &'m Module,
    kernel: &'m Kernel,
    sources: &'m Sources,
    /// Of each function.
    code: &'m [Code<'m>],
    shapes: Shapes<'m>,
    memory: Memory<'d>,
    /// The object of each program-scope constant.
    constants: Vec<ObjectNumber>,
    /// The objects of this threadgroup's variables, by function and variable.
    threadgroup_variables: HashMap<(usize, usize), ObjectNumber>,
    function_constants: &'d FunctionConstants,
    checker: Option<Checker<'m>>,
    /// How many barriers threads have passed.
    barriers: u64,
    steps: u64,
    step_limit: Option<u64>,
    interrupt: Option<&'d AtomicBool>,
}

impl Machine<'_, '_> {
    fn place(&self, span: Span) -> String {
        match self.sources.place(span) {
            Some(_) => SourcePlace::of(self.sources, span).to_string(),
            None => String::new(),
        }
    }

    fn fault(&self, thread: &Thread, span: Span, message: String) -> Error {
        Error::Fault(Fault {
            kernel: self.kernel.name.to_string(),
            place: self.place(span),
            thread: thread.position,
            kind: FaultKind::OutOfBounds,
            message,
        })
    }

    fn count_step(&mut self, thread: &Thread) -> Result<()> {
        self.steps += 1;
        if let Some(limit) = self.step_limit
            && self.steps > limit
        {
            return Err(Error::StepLimit {
                kernel: self.kernel.name.to_string(),
                place: self.place(self.next_span(thread)),
                thread: thread.position,
                limit,
            });
        }
        let is_interrupted = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        if self.steps.is_multiple_of(1024) && self.interrupt.is_some_and(is_interrupted) {
            return Err(Error::Interrupted {
                kernel: self.kernel.name.to_string(),
            });
        }
        Ok(())
    }

    fn add_constants(&mut self) {
        for (_, constant) in self.module.constants.iter() {
            let mut bytes = constant.bytes.clone();
            bytes.resize(self.shapes.size(constant.ty), 0);
            let name = constant.name.clone();
            let object = self.memory.own(name, Space::Constant, bytes, 0);
            self.constants.push(object);
        }
    }

    /// Whether what an argument is bound to by function constants is there.
    fn is_bound(&self, argument: &Argument) -> bool {
        let is_true = |constant| {
            let index = self.module.function_constants[constant].index;
            let bytes = self.function_constants.get(&index);
            bytes.is_some_and(|bytes| bytes.first().is_some_and(|&byte| byte != 0))
        };
        argument
            .condition
            .as_ref()
            .is_none_or(|c| c.holds(&is_true))
    }

    /// A pointer for each argument that is a buffer.
    fn add_buffers(&mut self) -> Vec<Option<u64>> {
        let mut objects: HashMap<u32, ObjectNumber> = HashMap::new();
        let mut pointers = Vec::new();
        let casts_away_const = self.module.functions[self.kernel.function].casts_away_const;
        for argument in &self.kernel.arguments {
            pointers.push(match argument.binding {
                Binding::Buffer { .. } if !self.is_bound(argument) => Some(0),
                Binding::Buffer {
                    index,
                    space,
                    writable,
                    ..
                } => {
                    let (space, writable) = match space {
                        AddressSpace::Device => (Space::Device, writable || casts_away_const),
                        _ => (Space::Constant, false),
                    };
                    let object = *objects.entry(index).or_insert_with(|| {
                        let name = argument.name.clone();
                        self.memory.buffer(name, space, index as usize, writable)
                    });
                    Some(pointer(object, 0))
                }
                _ => None,
            });
        }
        pointers
    }

    /// The object of a threadgroup variable, new for each threadgroup.
    fn threadgroup_variable(
        &mut self,
        function: Handle<Function>,
        variable: Handle<Local>,
    ) -> ObjectNumber {
        let key = (function.index(), variable.index());
        if let Some(&object) = self.threadgroup_variables.get(&key) {
            return object;
        }
        let variable = &self.module.functions[function].threadgroup[variable];
        let size = self.shapes.size(variable.ty);
        let object = self.threadgroup_memory(&variable.name, variable.span, size);
        self.threadgroup_variables.insert(key, object);
        object
    }

    fn threadgroup_memory(
        &mut self,
        name: &crate::syntax::ast::Name,
        span: Span,
        size: usize,
    ) -> ObjectNumber {
        let origin = match &mut self.checker {
            Some(checker) => checker.unwritten(name, span),
            None => 0,
        };
        let bytes = vec![0; size];
        self.memory
            .own(name.clone(), Space::Threadgroup, bytes, origin)
    }

    fn run_group(
        &mut self,
        group: &Group<'_>,
        buffers: &[Option<u64>],
        lengths: &[(u32, usize)],
    ) -> Result<()> {
        let mut arguments = Vec::new();
        let mut objects = Vec::new();
        for argument in &self.kernel.arguments {
            if let Binding::Threadgroup { index, .. } = argument.binding
                && self.is_bound(argument)
            {
                let len = lengths.iter().find(|(known, _)| *known == index);
                let len = len.map_or(0, |&(_, len)| len);
                let object = self.threadgroup_memory(&argument.name, argument.span, len);
                arguments.push(Some(pointer(object, 0)));
                objects.push(object);
            } else {
                arguments.push(None);
            }
        }
        let function = &self.module.functions[self.kernel.function];
        let mut threads = Vec::new();
        for index in 0..group.size.iter().product() {
            let mut values = Vec::new();
            for (number, argument) in self.kernel.arguments.iter().enumerate() {
                let ty = function.locals[function.params[number]].ty;
                values.push(match argument.binding {
                    Binding::Buffer { .. } => Data::of_pointer(buffers[number].unwrap_or(0)),
                    Binding::Threadgroup { .. } => Data::of_pointer(arguments[number].unwrap_or(0)),
                    Binding::Builtin(builtin) => {
                        let (scalar, count) = self.shapes.vector(ty);
                        let numbers = group.builtin(builtin, index);
                        let numbers = numbers.map(|n| Number::Integer(n.into()));
                        Data::of_numbers(scalar, &numbers[..count.min(3)], self.shapes.size(ty))
                    }
                });
            }
            let position = group.builtin(Builtin::ThreadPositionInGrid, index);
            let thread = (index as usize, position, group.number);
            threads.push(self.new_thread(thread, values)?);
        }
        self.run_threads(&mut threads)?;
        objects.extend(self.threadgroup_variables.drain().map(|(_, object)| object));
        for object in objects {
            self.memory.release(object);
            if let Some(checker) = &mut self.checker {
                checker.forget(object);
            }
        }
        Ok(())
    }
}

/// The grid.
struct Grid {
    threads: [u64; 3],
    /// The size of a full threadgroup.
    full: [u64; 3],
    /// Threadgroups in each dimension.
    groups: [u64; 3],
}

/// A threadgroup.
struct Group<'g> {
    grid: &'g Grid,
    number: u64,
    position: [u64; 3],
    size: [u64; 3],
}

/// The position of a number in a box, x fastest.
fn position_in(size: [u64; 3], number: u64) -> [u64; 3] {
    let [x, y, _] = size;
    [number % x, number / x % y, number / (x * y)]
}

impl Grid {
    fn group(&self, number: u64) -> Group<'_> {
        let position = position_in(self.groups, number);
        let rest = |d: usize| self.threads[d] - position[d] * self.full[d];
        Group {
            grid: self,
            number,
            position,
            size: std::array::from_fn(|d| self.full[d].min(rest(d))),
        }
    }
}

impl Group<'_> {
    /// What a builtin says to the thread of this index; of a scalar, the first number.
    fn builtin(&self, builtin: Builtin, index: u64) -> [u64; 3] {
        let width = SIMD_WIDTH as u64;
        let count = |size: [u64; 3]| size.iter().product::<u64>();
        let within = position_in(self.size, index);
        let one = |number: u64| [number, 0, 0];
        match builtin {
            Builtin::ThreadPositionInGrid => {
                std::array::from_fn(|d| self.position[d] * self.grid.full[d] + within[d])
            }
            Builtin::ThreadPositionInThreadgroup => within,
            Builtin::ThreadIndexInThreadgroup => one(index),
            Builtin::ThreadIndexInSimdgroup => one(index % width),
            Builtin::ThreadIndexInQuadgroup => one(index % 4),
            Builtin::SimdgroupIndexInThreadgroup => one(index / width),
            Builtin::QuadgroupIndexInThreadgroup => one(index / 4),
            Builtin::ThreadgroupPositionInGrid => self.position,
            Builtin::ThreadsPerGrid => self.grid.threads,
            Builtin::ThreadsPerThreadgroup => self.size,
            Builtin::DispatchThreadsPerThreadgroup => self.grid.full,
            Builtin::ThreadgroupsPerGrid => self.grid.groups,
            Builtin::ThreadsPerSimdgroup => one(width),
            Builtin::SimdgroupsPerThreadgroup => one(count(self.size).div_ceil(width)),
            Builtin::DispatchSimdgroupsPerThreadgroup => one(count(self.grid.full).div_ceil(width)),
            Builtin::QuadgroupsPerThreadgroup => one(count(self.size).div_ceil(4)),
            Builtin::GridOrigin => [0; 3],
        }
    }
}
