//! The lowered form as text.

use std::fmt::Write;

use crate::lower::form::{Address, Block, Compute, Indexed, Kind, Lowered, Node, Reg};

/// A kernel, a node a line. Constants stand where they are used.
pub fn print(lowered: &Lowered) -> String {
    let mut printer = Printer {
        lowered,
        out: String::new(),
    };
    printer.block(&lowered.body, 0);
    printer.out
}

struct Printer<'a> {
    lowered: &'a Lowered,
    out: String,
}

impl Printer<'_> {
    fn reg(&self, reg: Reg) -> String {
        for node in &self.lowered.body {
            if let Node::Compute { op, dst, .. } = node
                && *dst == reg
            {
                match op {
                    Compute::Constant(bits) => return self.constant(*bits, reg),
                    Compute::Base(tag) => {
                        return self.lowered.slots[usize::from(*tag) - 1].name().to_string();
                    }
                    _ => {}
                }
            }
        }
        match self.lowered.is_variable[reg as usize] {
            true => format!("v{reg}"),
            false => format!("r{reg}"),
        }
    }

    fn constant(&self, bits: u64, reg: Reg) -> String {
        match self.lowered.kinds[reg as usize] {
            Kind::Pointer => format!("pointer {bits}"),
            Kind::Scalar(scalar) if scalar.is_float() => {
                format!("{:?}", f32::from_bits(bits as u32))
            }
            Kind::Scalar(scalar) => {
                let value = crate::lower::constant::integer_value(bits, scalar);
                value.unwrap_or_default().to_string()
            }
        }
    }

    fn regs(&self, regs: &[Reg]) -> String {
        let all: Vec<_> = regs.iter().map(|&reg| self.reg(reg)).collect();
        all.join(", ")
    }

    fn address(&self, address: &Address) -> String {
        let mut text = match (address.pointer, address.is_private) {
            (Some(pointer), _) => self.reg(pointer),
            (None, _) => "own".to_string(),
        };
        if let Some((index, stride)) = address.index {
            let _ = write!(text, " + {} * {stride}", self.reg(index));
        }
        if address.offset != 0 {
            let _ = write!(text, " + {}", address.offset);
        }
        text
    }

    fn element(&self, element: &Indexed) -> String {
        let last = element.base + element.count - 1;
        let mut text = format!("v{}..v{last}[{}", element.base, element.offset);
        for (term, worth) in &element.terms {
            let _ = write!(text, " + {} * {worth}", self.reg(*term));
        }
        text + "]"
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", depth * 4);
    }

    fn block(&mut self, block: &Block, depth: usize) {
        for node in block {
            self.node(node, depth);
        }
    }

    fn node(&mut self, node: &Node, depth: usize) {
        let text = match node {
            Node::Compute {
                op: Compute::Constant(_) | Compute::Base(_),
                ..
            } => return,
            Node::Compute { op, dst, args } => {
                format!("{} = {op:?}({})", self.reg(*dst), self.regs(args))
            }
            Node::Load {
                dst,
                count,
                address,
                ..
            } => {
                let all: Vec<Reg> = (*dst..dst + count).collect();
                format!("{} = load {}", self.regs(&all), self.address(address))
            }
            Node::Store {
                values, address, ..
            } => format!("store {} to {}", self.regs(values), self.address(address)),
            Node::Set { var, value } => format!("{} := {}", self.reg(*var), self.reg(*value)),
            Node::GetIndexed { dst, element } => {
                format!("{} = {}", self.reg(*dst), self.element(element))
            }
            Node::SetIndexed { element, value } => {
                format!("{} := {}", self.element(element), self.reg(*value))
            }
            Node::Simd { op, dst, args } => {
                format!("{} = {op:?}({})", self.reg(*dst), self.regs(args))
            }
            Node::Atomic {
                op, args, address, ..
            } => format!("{op:?}({}) at {}", self.regs(args), self.address(address)),
            Node::If {
                condition,
                accept,
                reject,
            } => {
                self.line(depth, &format!("if {}", self.reg(*condition)));
                self.block(accept, depth + 1);
                if !reject.is_empty() {
                    self.line(depth, "else");
                    self.block(reject, depth + 1);
                }
                return;
            }
            Node::Scope(id, body) => {
                self.line(depth, &format!("scope {id}"));
                self.block(body, depth + 1);
                return;
            }
            Node::Loop(body) => {
                self.line(depth, "loop");
                self.block(body, depth + 1);
                return;
            }
            Node::Leave(scope) => format!("leave {scope}"),
            Node::Barrier => "barrier".to_string(),
        };
        self.line(depth, &text);
    }
}
