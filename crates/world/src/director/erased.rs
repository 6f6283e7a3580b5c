//! Type erasure between sessions and directors.
//!
//! A world holds directors of any type, and a session sends orders to any of them through the same channel. Both sides
//! know the concrete types; what lies between them handles these wrappers.

use std::{
    any::Any,
    error::Error,
    fmt::{self, Debug, Formatter},
    sync::Arc,
};

use serde::{Serialize, de::DeserializeOwned};

use super::{Director, Spawn, View};
use crate::{value::Value, world::World};

/// An order or a join request, addressed to a director.
pub struct Envelope {
    to: &'static str,
    content: Box<dyn Content>,
}

impl Envelope {
    /// An order for the director `D`.
    pub fn order<D: Director>(order: D::Order) -> Self {
        Self { to: D::NAME, content: Box::new(order) }
    }

    /// A request of a robot to join, for the director `D`.
    pub fn join_request<D: Director>(request: D::JoinRequest) -> Self {
        Self { to: D::NAME, content: Box::new(request) }
    }

    /// Name of the director.
    pub fn to(&self) -> &'static str {
        self.to
    }

    /// The content, if it is of type `T`.
    pub fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        self.content.as_any().downcast_ref()
    }

    /// The content as it is recorded: JSON.
    ///
    /// # Errors
    /// [`OrderRefusal::Unrecordable`] if it has no JSON form.
    pub fn to_text(&self) -> Result<String, OrderRefusal> {
        let unrecordable = |cause: serde_json::Error| OrderRefusal::Unrecordable {
            director: self.to.to_owned(),
            reason: cause.to_string(),
        };
        self.content.to_json().map_err(unrecordable)
    }

    fn wrong_type(&self) -> OrderRefusal {
        OrderRefusal::WrongType { director: self.to }
    }
}

impl Clone for Envelope {
    fn clone(&self) -> Self {
        Self { to: self.to, content: self.content.clone_box() }
    }
}

impl Debug for Envelope {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope").field("to", &self.to).field("content", &self.content).finish()
    }
}

/// Content of an [`Envelope`].
trait Content: Debug + Send {
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
    fn clone_box(&self) -> Box<dyn Content>;
    fn to_json(&self) -> serde_json::Result<String>;
}

impl<T: Clone + Debug + Serialize + Send + 'static> Content for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }

    fn clone_box(&self) -> Box<dyn Content> {
        Box::new(self.clone())
    }

    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// A director's reply to an order.
#[derive(Clone, Debug)]
pub struct OrderAnswer(Arc<dyn Answer>);

impl OrderAnswer {
    /// Wraps a reply of type [`Director::Answer`].
    pub fn new<T: Debug + PartialEq + Send + Sync + 'static>(answer: T) -> Self {
        Self(Arc::new(answer))
    }

    /// The reply, if it is of type `T`.
    pub fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        self.0.as_any().downcast_ref()
    }
}

impl PartialEq for OrderAnswer {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_equal(other.0.as_any())
    }
}

/// Content of an [`OrderAnswer`].
trait Answer: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn is_equal(&self, other: &dyn Any) -> bool;
}

impl<T: Debug + PartialEq + Send + Sync + 'static> Answer for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_equal(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

/// A director's own reason for a refusal: a [`Director::Refusal`].
#[derive(Clone, Debug)]
pub struct DirectorRefusal(Arc<dyn Refusal>);

impl PartialEq for DirectorRefusal {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_equal(other.0.as_any())
    }
}

impl fmt::Display for DirectorRefusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for DirectorRefusal {}

/// Content of a [`DirectorRefusal`].
trait Refusal: Answer + Error {}

impl<T: Error + PartialEq + Send + Sync + 'static> Refusal for T {}

/// Why an order or a join request was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OrderRefusal {
    /// The world has no such director.
    #[error("this world has no director `{director}`")]
    NoDirector {
        /// Its name.
        director: String,
    },
    /// The content of the envelope is not of the director's type: a bug of the sender.
    #[error("the director `{director}` takes no messages of this type")]
    WrongType {
        /// Its name.
        director: &'static str,
    },
    /// The text in a recording failed to parse.
    #[error("no order of the director `{director}`: {reason}")]
    Unreadable {
        /// Its name.
        director: &'static str,
        /// The parser's message.
        reason: String,
    },
    /// The order failed to serialise, so that it could not be recorded.
    #[error("an order of the director `{director}` cannot be recorded: {reason}")]
    Unrecordable {
        /// Its name.
        director: String,
        /// The serialiser's message.
        reason: String,
    },
    /// The director refused.
    #[error(transparent)]
    ByDirector(DirectorRefusal),
}

impl OrderRefusal {
    /// A refusal by a director, with its own reason.
    pub fn by_director<T: Error + PartialEq + Send + Sync + 'static>(reason: T) -> Self {
        Self::ByDirector(DirectorRefusal(Arc::new(reason)))
    }

    /// The director's own reason, if it has refused and the reason is of type `T`.
    pub fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        match self {
            Self::ByDirector(refusal) => refusal.0.as_any().downcast_ref(),
            Self::NoDirector { .. } | Self::WrongType { .. } | Self::Unreadable { .. } | Self::Unrecordable { .. } => {
                None
            }
        }
    }
}

/// A [`Director`] of any type, as a world holds it. Implemented for every director; call sites need only the name of the
/// trait: `Box<dyn DynDirector>`.
pub trait DynDirector: Send {
    /// [`Director::NAME`].
    fn name(&self) -> &'static str;
    /// See [`Director::variables`].
    fn variables(&self) -> Vec<(String, Value)>;
    /// See [`Director::reset`].
    fn reset(&mut self, world: &mut World);
    /// See [`Director::model_changed`].
    fn model_changed(&mut self, world: &mut World);
    /// See [`Director::before_physics`].
    fn before_physics(&mut self, world: &mut World);
    /// See [`Director::before_step`].
    fn before_step(&mut self, world: &mut World);
    /// See [`Director::after_physics`].
    fn after_physics(&mut self, world: &mut World);
    /// See [`Director::admit`].
    ///
    /// # Errors
    /// Also [`OrderRefusal::WrongType`].
    fn admit(&mut self, world: &mut World, request: &Envelope) -> Result<Spawn, OrderRefusal>;
    /// See [`Director::cancel_admission`].
    fn cancel_admission(&mut self, world: &mut World, name: &str);
    /// See [`Director::apply_order`].
    ///
    /// # Errors
    /// Also [`OrderRefusal::WrongType`].
    fn apply_order(&mut self, world: &mut World, order: Envelope) -> Result<Option<OrderAnswer>, OrderRefusal>;
    /// Parses a recorded order.
    ///
    /// # Errors
    /// [`OrderRefusal::Unreadable`].
    fn parse_order(&self, text: &str) -> Result<Envelope, OrderRefusal>;
    /// Parses a recorded join request.
    ///
    /// # Errors
    /// [`OrderRefusal::Unreadable`].
    fn parse_join_request(&self, text: &str) -> Result<Envelope, OrderRefusal>;
    /// See [`Director::view`].
    fn view(&self) -> View;
    /// See [`Director::fork`].
    fn fork(&self) -> Option<Box<dyn DynDirector>>;
}

impl<D: Director> DynDirector for D {
    fn name(&self) -> &'static str {
        D::NAME
    }

    fn variables(&self) -> Vec<(String, Value)> {
        Director::variables(self)
    }

    fn reset(&mut self, world: &mut World) {
        Director::reset(self, world);
    }

    fn model_changed(&mut self, world: &mut World) {
        Director::model_changed(self, world);
    }

    fn before_physics(&mut self, world: &mut World) {
        Director::before_physics(self, world);
    }

    fn before_step(&mut self, world: &mut World) {
        Director::before_step(self, world);
    }

    fn after_physics(&mut self, world: &mut World) {
        Director::after_physics(self, world);
    }

    fn admit(&mut self, world: &mut World, request: &Envelope) -> Result<Spawn, OrderRefusal> {
        let content = request.downcast_ref::<D::JoinRequest>().ok_or_else(|| request.wrong_type())?;
        Director::admit(self, world, content).map_err(OrderRefusal::by_director)
    }

    fn cancel_admission(&mut self, world: &mut World, name: &str) {
        Director::cancel_admission(self, world, name);
    }

    fn apply_order(&mut self, world: &mut World, order: Envelope) -> Result<Option<OrderAnswer>, OrderRefusal> {
        let wrong_type = order.wrong_type();
        let order = order.content.into_any().downcast::<D::Order>().map_err(|_| wrong_type)?;
        let answer = Director::apply_order(self, world, *order).map_err(OrderRefusal::by_director)?;
        Ok(answer.map(OrderAnswer::new))
    }

    fn parse_order(&self, text: &str) -> Result<Envelope, OrderRefusal> {
        parse::<D, D::Order>(text).map(Envelope::order::<D>)
    }

    fn parse_join_request(&self, text: &str) -> Result<Envelope, OrderRefusal> {
        parse::<D, D::JoinRequest>(text).map(Envelope::join_request::<D>)
    }

    fn view(&self) -> View {
        Director::view(self)
    }

    fn fork(&self) -> Option<Box<dyn DynDirector>> {
        Some(Box::new(Director::fork(self)?))
    }
}

fn parse<D: Director, T: DeserializeOwned>(text: &str) -> Result<T, OrderRefusal> {
    let unreadable =
        |cause: serde_json::Error| OrderRefusal::Unreadable { director: D::NAME, reason: cause.to_string() };
    serde_json::from_str(text).map_err(unreadable)
}
