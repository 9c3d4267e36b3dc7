//! Gradients: the history of tensors, and the walk back through it.
//!
//! An op whose inputs are tracked gives its output a node, which holds the nodes of the inputs
//! and the rule that turns the gradient of the output into theirs. Nodes are numbered as they are
//! made, so a node's inputs have smaller numbers: going from large to small visits each one after
//! all that depends on it. Rules are made of tensor ops, and so have a history themselves if
//! gradients of gradients are asked for; ops whose gradient is a kernel have such a rule beside it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::dtypes::DType;
use crate::error::{MlxError, Result};
use crate::tensor::Tensor;

/// Makes the gradients of the inputs from that of the output and the output's node.
type Rule = Box<dyn Fn(&Tensor, &Arc<Node>) -> Result<Vec<Option<Tensor>>> + Send + Sync>;

/// A place in the history of a tensor.
pub(crate) struct Node {
    number: u64,
    operation: &'static str,
    /// None for those that are not tracked.
    inputs: Vec<Option<Arc<Node>>>,
    /// None for a variable.
    rule: Option<Rule>,
}

impl Node {
    fn new(
        operation: &'static str,
        inputs: Vec<Option<Arc<Self>>>,
        rule: Option<Rule>,
    ) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            operation,
            inputs,
            rule,
        })
    }

    /// The start of a history.
    pub fn variable() -> Arc<Self> {
        Self::new("variable", Vec::new(), None)
    }

    /// The node of an op's output, if an input is tracked and histories are kept.
    pub fn computed(
        operation: &'static str,
        inputs: Vec<Option<Arc<Self>>>,
        rule: impl Fn(&Tensor, &Arc<Self>) -> Result<Vec<Option<Tensor>>> + Send + Sync + 'static,
    ) -> Option<Arc<Self>> {
        let tracked = KEEPS_HISTORY.get() && inputs.iter().any(Option::is_some);
        tracked.then(|| Self::new(operation, inputs, Some(Box::new(rule))))
    }

    /// The node of the first input, if it is tracked.
    pub fn input(&self) -> Option<Arc<Self>> {
        self.inputs.first().cloned().flatten()
    }
}

impl Drop for Node {
    /// A history may be longer than the stack is deep, so nodes are not left to drop each other.
    fn drop(&mut self) {
        let mut waiting: Vec<_> = self.inputs.drain(..).flatten().collect();
        // The rule holds tensors whose nodes are among the inputs, which are held here meanwhile.
        self.rule = None;
        while let Some(mut node) = waiting.pop() {
            if let Some(node) = Arc::get_mut(&mut node) {
                waiting.extend(node.inputs.drain(..).flatten());
                node.rule = None;
            }
        }
    }
}

thread_local! {
    static KEEPS_HISTORY: Cell<bool> = const { Cell::new(true) };
}

/// Runs `work` without keeping histories: what its ops make is not tracked. It holds for this
/// thread.
///
/// ```
/// use mlx_native::{MlxDevice, Stream, Tensor, autograd};
/// let stream = Stream::new(&MlxDevice::new()?)?;
/// let x = Tensor::scalar(&stream, 1.0f32)?.variable();
/// let y = autograd::without_history(|| x.exp())?;
/// assert!(!y.is_tracked());
/// # Ok::<(), mlx_native::MlxError>(())
/// ```
pub fn without_history<R>(work: impl FnOnce() -> R) -> R {
    with_history(false, work)
}

/// Whether ops put their outputs into histories now.
pub(crate) fn keeps_history() -> bool {
    KEEPS_HISTORY.get()
}

fn with_history<R>(keeps: bool, work: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            KEEPS_HISTORY.set(self.0);
        }
    }
    let _restore = Restore(KEEPS_HISTORY.replace(keeps));
    work()
}

/// The gradients of variables.
#[derive(Debug, Default)]
pub struct Gradients {
    variables: BTreeMap<u64, Tensor>,
}

impl Gradients {
    /// The gradient of a variable: none if the result does not depend on it.
    pub fn get(&self, variable: &Tensor) -> Option<&Tensor> {
        self.variables.get(&variable.node()?.number)
    }
}

impl Tensor {
    /// The gradients of this number for all variables it was made from.
    ///
    /// # Errors
    ///
    /// If it has more than one element, is not f32 or has no history, or if an op of the way back
    /// fails.
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::scalar(&stream, 3.0f32)?.variable();
    /// let gradients = x.mul(&x)?.backward()?;
    /// assert_eq!(gradients.get(&x).unwrap().item::<f32>()?, 6.0);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn backward(&self) -> Result<Gradients> {
        self.backward_from_one(false)
    }

    /// As [`backward`](Self::backward), the gradients having a history, so that they can be
    /// differentiated too.
    ///
    /// # Errors
    ///
    /// As [`backward`](Self::backward).
    ///
    /// ```
    /// use mlx_native::{MlxDevice, Stream, Tensor};
    /// let stream = Stream::new(&MlxDevice::new()?)?;
    /// let x = Tensor::scalar(&stream, 3.0f32)?.variable();
    /// let cube = x.mul(&x)?.mul(&x)?;
    /// let first = cube.backward_with_history()?;
    /// let second = first.get(&x).unwrap().backward()?;
    /// assert_eq!(second.get(&x).unwrap().item::<f32>()?, 18.0);
    /// # Ok::<(), mlx_native::MlxError>(())
    /// ```
    pub fn backward_with_history(&self) -> Result<Gradients> {
        self.backward_from_one(true)
    }

    fn backward_from_one(&self, keeps_history: bool) -> Result<Gradients> {
        if self.element_count() != 1 {
            return Err(MlxError::NotScalar {
                operation: "backward",
                shape: self.shape().to_vec(),
            });
        }
        self.expect_dtype("backward", "the tensor", DType::F32)?;
        let one = Self::full(self.stream(), 1.0, self.shape())?;
        with_history(keeps_history, || walk(self, one))
    }

    /// The gradients for all variables, given that of this tensor.
    ///
    /// # Errors
    ///
    /// If the shapes differ, one of them is not f32, they are on different streams or there is no
    /// history, or if an op of the way back fails.
    pub fn backward_from(&self, gradient: &Self) -> Result<Gradients> {
        self.expect_dtype("backward_from", "the tensor", DType::F32)?;
        gradient.expect_dtype("backward_from", "the gradient", DType::F32)?;
        self.stream()
            .expect("backward_from", "the gradient", gradient.stream())?;
        if gradient.shape() != self.shape() {
            return Err(MlxError::ShapeMismatch {
                operation: "backward_from",
                message: format!(
                    "the gradient is {:?}, but the tensor {:?}; they must be equal",
                    gradient.shape(),
                    self.shape()
                ),
            });
        }
        with_history(false, || walk(self, gradient.clone()))
    }
}

fn walk(output: &Tensor, gradient: Tensor) -> Result<Gradients> {
    let Some(node) = output.node() else {
        return Err(MlxError::NoHistory {
            operation: "backward",
        });
    };
    let mut gradients = Gradients::default();
    let mut waiting = BTreeMap::from([(node.number, (Arc::clone(node), gradient))]);
    while let Some((number, (node, gradient))) = waiting.pop_last() {
        let Some(rule) = &node.rule else {
            gradients.variables.insert(number, gradient);
            continue;
        };
        let made = rule(&gradient, &node)?;
        for (input, gradient) in node.inputs.iter().zip(made) {
            let (Some(input), Some(gradient)) = (input, gradient) else {
                continue;
            };
            let sum = match waiting.remove(&input.number) {
                Some((_, earlier)) => earlier.add(&gradient)?,
                None => gradient,
            };
            waiting.insert(input.number, (Arc::clone(input), sum));
        }
    }
    Ok(gradients)
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node")
            .field("number", &self.number)
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}
