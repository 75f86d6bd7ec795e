(* Page D2, on a lattice: Laplace noise as it is drawn, in sums over whole numbers. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum ssrint finmap interval.
From mathcomp.classical Require Import boolp classical_sets functions cardinality fsbigop mathcomp_extra.
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

Section sums.
Variables (R : realType) (K : choiceType).

(* From a ratio of probabilities to every event, in sums. *)
Lemma sum_ratio (p p' : K -> R) (c : R) (E : set K) : 0 <= c -> (forall k, 0 <= p' k) ->
  (forall k, p k <= c * p' k) ->
  (\esum_(k in E) (p k)%:E <= c%:E * \esum_(k in E) (p' k)%:E)%E.
Proof.
move=> c0 p0 ratio; apply: ub_ereal_sup => _ [X XE <-].
have [finX sub] := XE; rewrite fsbig_finite //=.
apply: (@le_trans _ _ (c%:E * \sum_(k <- fset_set X) (p' k)%:E)%E).
  rewrite ge0_sume_distrr => [|k _]; last by rewrite lee_fin.
  by apply: lee_sum => k _; rewrite -EFinM lee_fin.
apply: lee_wpmul2l; first by rewrite lee_fin.
by apply: esum_ge; exists X => //; rewrite fsbig_finite.
Qed.

End sums.

(* The law that is drawn: whole numbers j with probability proportional to exp(-|j|/s), s the scale in steps of the
   lattice, for every coordinate. *)
Section lattice.
Variables (R : realType) (s : R).
Add Field reals : (real_field R).
Let r := expR (- s^-1) : R.

Definition whole_laplace (j : int) : R := (1 - r) / (1 + r) * r ^+ absz j.

Hypothesis (s0 : 0 < s).

Let r0 : 0 < r. Proof. exact: expR_gt0. Qed.
Let r1 : r < 1. Proof. by rewrite -expR0 ltr_expR oppr_lt0 invr_gt0. Qed.

Let C0 : 0 < (1 - r) / (1 + r). Proof. by rewrite divr_gt0 ?subr_gt0 // addr_gt0. Qed.

Lemma whole_ge0 j : 0 <= whole_laplace j.
Proof. by rewrite mulr_ge0 ?exprn_ge0 // ltW. Qed.

Let series_sum (a : R) : 0 <= a -> (\esum_(n in [set: nat]) (a * r ^+ n)%:E = (a / (1 - r))%:E)%E.
Proof.
move=> a0; have -> : [set: nat] = [set n | xpredT n] by apply/seteqP; split.
rewrite -nneseries_esum => [|n _]; last by rewrite lee_fin mulr_ge0 // exprn_ge0 // ltW.
apply: cvg_lim => //; have -> : (fun n => \sum_(0 <= i < n | xpredT i) (a * r ^+ i)%:E)%E =
    EFin \o series (geometric a r) by apply/funext => n /=; rewrite sumEFin.
apply: (cvg_comp (g := EFin) (cvg_geometric_series _)); first by rewrite gtr0_norm.
by [].
Qed.

(* It is a law. *)
Theorem whole_laplace_is_law : (\esum_(j in [set: int]) (whole_laplace j)%:E = 1)%E.
Proof.
have pos (j : int) : [set: int] j -> (0 <= (whole_laplace j)%:E)%E by rewrite lee_fin whole_ge0.
rewrite (esumID (range Posz) _ _ pos) !setTI.
have -> : ~` range Posz = range Negz.
  apply/seteqP; split=> [[n|n] /= h|_ [n _ <-] [m _]] //; last by exists n.
  by exfalso; apply: h; exists n.
have inj : set_inj [set: nat] Posz by move=> m n _ _ [].
have inj' : set_inj [set: nat] Negz by move=> m n _ _ [].
rewrite (esum_image _ _ _ inj) (esum_image _ _ _ inj').
have -> : (\esum_(n in [set: nat]) (whole_laplace (Posz n))%:E = ((1 - r) / (1 + r) / (1 - r))%:E)%E.
  by rewrite -series_sum // ltW.
have -> : (\esum_(n in [set: nat]) (whole_laplace (Negz n))%:E = ((1 - r) / (1 + r) * r / (1 - r))%:E)%E.
  rewrite -series_sum; last by rewrite mulr_ge0 // ltW.
  by apply: eq_esum => n _; rewrite /whole_laplace /= exprS mulrA.
rewrite -EFinD; congr (_%:E); have n0 : 1 - r != 0 by rewrite subr_eq0 gt_eqF.
have n1 : 1 + r != 0 by rewrite gt_eqF // addr_gt0.
by clearbody r; real_fields R; exact/eqP.
Qed.

(* d numbers, each with noise of its own. *)
Variable d : nat.
Local Notation point := {ffun 'I_d -> int}.

Definition lattice_laplace (c k : point) : R := \prod_i whole_laplace (k i - c i).

Definition apart (c c' : point) : nat := (\sum_i absz (c i - c' i))%N.

Lemma lattice_laplaceE c k : lattice_laplace c k = ((1 - r) / (1 + r)) ^+ d * r ^+ apart k c.
Proof. by rewrite /lattice_laplace big_split /= prodr_const card_ord -expr_sum. Qed.

Lemma apart_triangle c c' k : (apart k c' <= apart k c + apart c c')%N.
Proof.
rewrite /apart -big_split; apply: leq_sum => i _ /=.
by rewrite -lez_nat PoszD !abszE; exact: ler_dist_add.
Qed.

(* Counts whose L1 distance is at most D on neighbouring tables, with noise of scale at least D/epsilon. *)
Theorem lattice_private (Z : Type) n (counts : ('I_n -> Z) -> point) (D epsilon : R) S S' (E : set point) :
  (forall S S', neighbours S S' -> (apart (counts S) (counts S'))%:R <= D) -> D <= epsilon * s ->
  neighbours S S' ->
  (\esum_(k in E) (lattice_laplace (counts S) k)%:E
    <= (expR epsilon)%:E * \esum_(k in E) (lattice_laplace (counts S') k)%:E)%E.
Proof.
move=> sensitivity scale adj; apply: sum_ratio => [|k|k]; first exact/ltW/expR_gt0.
  by rewrite prodr_ge0 // => i _; exact: whole_ge0.
set c := counts S; set c' := counts S'; rewrite !lattice_laplaceE mulrCA; apply: ler_wpmul2l.
  by rewrite exprn_ge0 // ltW.
rewrite /r -!expRMm -expRD ler_expR !mulrN ler_oppl opprD opprK.
have near : (apart c c')%:R <= epsilon * s by exact: le_trans (sensitivity _ _ adj) scale.
have far : (apart k c')%:R <= (apart k c)%:R + epsilon * s.
  by rewrite (le_trans _ (ler_add (lexx _) near)) // -natrD ler_nat apart_triangle.
rewrite -(ler_pmul2r s0); move: far; set x := (apart k c)%:R; set y := (apart k c')%:R => far.
by apply: (@le_by1 _ _ _ _ _ far); real_fields R; apply/eqP; rewrite gt_eqF.
Qed.

End lattice.
