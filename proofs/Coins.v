(* Page M1: what holds given coins, of a law that knows nothing of the rows, holds in the mean. *)

From HB Require Import structures.
From mathcomp Require Import all_ssreflect ssralg ssrnum interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality mathcomp_extra.
From mathcomp.analysis Require Import reals ereal topology normedtype sequences signed esum.
From mathcomp.analysis Require Import measure lebesgue_measure numfun lebesgue_integral exp.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Privacy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.
Local Open Scope ereal_scope.

Section coins.
Context (R : realType) d d' (U : measurableType d) (X : measurableType d').

(* nu is the law of the coins, K u and K' u what is released on two tables given u, and delta u what holds at epsilon
   between these two. First with the coins beside the release, then without them. *)
Theorem M1 (nu : {measure set U -> \bar R}) (K K' : kernel R U X) (epsilon : R) (delta : U -> R) :
  measurable_fun setT delta -> (forall u, 0 <= delta u)%R -> (forall u, close epsilon (delta u) (K u) (K' u)) ->
  (forall E, measurable E ->
    joint_law nu K E <= (expR epsilon)%:E * joint_law nu K' E + \int[nu]_u (delta u)%:E) /\
  (forall E, measurable E -> mixture nu K E <= (expR epsilon)%:E * mixture nu K' E + \int[nu]_u (delta u)%:E).
Proof.
move=> mdelta delta0 near.
have pairs E : measurable E ->
    joint_law nu K E <= (expR epsilon)%:E * joint_law nu K' E + \int[nu]_u (delta u)%:E.
  move=> mE; rewrite /= /joint.
  have mK (L : kernel R U X) : measurable_fun setT (fun u => L u (xsection E u)) by exact: measurable_sections.
  have mdelta' : measurable_fun setT (fun u => (delta u)%:E) by exact/EFin_measurable_fun.
  have e0 : 0 <= (expR epsilon)%:E by rewrite lee_fin ltW // expR_gt0.
  rewrite -ge0_integralM // -ge0_integralD //; last 3 first.
  - by move=> u _; exact: mule_ge0.
  - exact: measurable_funeM.
  - by move=> u _; rewrite lee_fin.
  apply: ge0_le_integral => //.
  - by move=> u _; apply: adde_ge0; [exact: mule_ge0|rewrite lee_fin].
  - by apply: emeasurable_funD => //; exact: measurable_funeM.
  - by move=> u _; apply: near; exact: measurable_xsection.
split=> // E mE; apply: pairs.
by rewrite -[X in measurable X]setTI; exact: measurable_second.
Qed.

End coins.
