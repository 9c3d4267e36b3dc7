//! Random trees from a seed.
//!
//! `types` picks types and makes small helper functions, `places` finds what can be read, written
//! or pointed at, `expressions`, `statements` and
//! `idioms` make the rest.

mod expressions;
mod idioms;
mod places;
mod statements;
mod types;

use super::program::*;
use super::random::Random;
use statements::Site;

/// What kernels are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// All of the language.
    Full,
    /// What C++ has too, with the same meaning: no vectors, no small floats, no meeting of threads,
    /// and nothing that hangs on the order in which C++ evaluates operands.
    Common,
}

/// The program of a seed.
pub fn generate(seed: u64, profile: Profile) -> Program {
    let mut generator = Generator {
        random: Random::new(seed),
        profile,
        program: Program {
            grid: 1,
            threadgroup: 1,
            arguments: [0; ARGUMENTS],
            structs: Vec::new(),
            variables: Vec::new(),
            functions: Vec::new(),
            body: Vec::new(),
        },
        palette: Vec::new(),
        notes: Vec::new(),
        scopes: Vec::new(),
        reach: usize::MAX,
        result: None,
        meets: false,
        lines: 0,
        cost: 0,
        rounds: 1,
        uses_lanes: false,
    };
    generator.program();
    generator.program
}

/// What calls of a function need to know.
struct Note {
    /// Steps of a call, about.
    cost: u64,
    /// Whether it may write what its arguments lead to.
    has_effects: bool,
    /// Whether it has operations across lanes.
    uses_lanes: bool,
}

/// A variable in scope.
#[derive(Clone, Copy)]
struct Visible {
    variable: usize,
    /// Whether statements may write it; if not, it never changes while it is in scope.
    is_mutable: bool,
    /// Whether it is the same in all threads.
    is_uniform: bool,
}

/// What an expression may do.
#[derive(Clone, Copy, Debug)]
struct Mode {
    /// Write variables.
    effects: bool,
    /// Read variables that change.
    variables: bool,
    /// Nothing else than the same value in all threads of the threadgroup.
    uniform: bool,
}

impl Mode {
    const ALL: Self = Self {
        effects: true,
        variables: true,
        uniform: false,
    };
    const READ: Self = Self {
        effects: false,
        variables: true,
        uniform: false,
    };
    const UNIFORM: Self = Self {
        effects: false,
        variables: false,
        uniform: true,
    };

    /// The same without effects.
    const fn reading(self) -> Self {
        Self {
            effects: false,
            ..self
        }
    }

    /// What no effect elsewhere can change.
    const fn fixed(self) -> Self {
        Self {
            effects: false,
            variables: false,
            ..self
        }
    }
}

struct Generator {
    random: Random,
    profile: Profile,
    program: Program,
    /// Types that are picked often, so that there are several variables of one type.
    palette: Vec<Type>,
    /// One for each function of the program.
    notes: Vec<Note>,
    scopes: Vec<Vec<Visible>>,
    /// Only the outer scopes up to here are looked at: what a pointer points at must live as long.
    reach: usize,
    /// The result of the function that is being made; none in the kernel.
    result: Option<Type>,
    /// Whether threads meet in this kernel, so none may leave on its own.
    meets: bool,
    /// How many more lines this function should have.
    lines: i32,
    /// The steps of the function so far.
    cost: u64,
    /// How often the place that is being made runs, at most.
    rounds: u64,
    uses_lanes: bool,
}

impl Generator {
    fn is_full(&self) -> bool {
        self.profile == Profile::Full
    }

    fn program(&mut self) {
        self.program.threadgroup = *self.random.pick(&[1, 5, 31, 32, 33, 48, 64, 70]);
        self.program.grid = self.random.between(1, 100) as u32;
        for index in 0..ARGUMENTS {
            self.program.arguments[index] = match self.random.below(3) {
                0 => self.random.next() as u32,
                _ => self.random.below(9) as u32,
            };
        }
        for _ in 0..self.random.below(3) {
            self.structure();
        }
        self.palette = (0..3).map(|_| self.any_type()).collect();
        for _ in 0..self.random.below(4) {
            self.function();
        }
        self.kernel();
    }

    fn new_variable(&mut self, ty: Type) -> usize {
        self.program.variables.push(ty);
        self.program.variables.len() - 1
    }

    fn show(&mut self, variable: usize, is_mutable: bool, is_uniform: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(Visible {
                variable,
                is_mutable,
                is_uniform,
            });
        }
    }

    fn function(&mut self) {
        (self.cost, self.uses_lanes) = (0, false);
        self.scopes = vec![Vec::new()];
        let result = self.value_type();
        // A pointer that is returned must be one of the arguments.
        let returns_pointer = matches!(result, Type::Scalar(_)) && self.random.percent(12);
        let result = match returns_pointer {
            true => Type::Pointer(Box::new(result), 1),
            false => result,
        };
        let mut parameters = Vec::new();
        for index in 0..self.random.between(1, 3) {
            let is_pointer = (returns_pointer && index == 0) || self.random.percent(25);
            let ty = match (is_pointer, &result) {
                (true, Type::Pointer(..)) => result.clone(),
                (true, _) => self.pointer_type(),
                (false, _) => self.value_type(),
            };
            let is_reference = !is_pointer && self.random.percent(35);
            let variable = self.new_variable(ty);
            self.show(variable, !(is_pointer && returns_pointer), false);
            parameters.push(Parameter {
                variable,
                is_reference,
            });
        }
        self.result = Some(result.clone());
        self.lines = self.random.between(1, 12) as i32;
        let site = Site::function();
        self.scopes.push(Vec::new());
        let body = self.statements(site);
        let value = self.returned(&result);
        self.scopes.clear();
        let has_effects = parameters.iter().any(|p| {
            p.is_reference || matches!(self.program.variables[p.variable], Type::Pointer(..))
        });
        self.notes.push(Note {
            cost: self.cost + 1,
            has_effects,
            uses_lanes: self.uses_lanes,
        });
        self.program.functions.push(Function {
            parameters,
            result,
            body,
            value,
        });
    }

    fn kernel(&mut self) {
        self.cost = 0;
        self.result = None;
        self.meets = self.is_full() && self.random.percent(50);
        self.scopes = vec![Vec::new()];
        let site = Site::kernel();
        let mut body = Vec::new();
        for _ in 0..self.random.between(2, 6) {
            body.push(self.declaration());
        }
        self.lines = self.random.between(8, 60) as i32;
        body.extend(self.statements(site));
        body.extend(self.last_outputs());
        self.program.body = body;
    }
}
