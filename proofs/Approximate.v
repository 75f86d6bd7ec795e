(* Pages A4 and L3: what a solver returns in place of the exact minimiser, over the reals. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Losses.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section approximate.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Implicit Types (F : V -> R) (C : V -> Prop) (u v w p : V) (mu tau b e : R).
Add Field reals : (real_field R).
Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).
Local Notation norm := (norm ip).

(* Page A4, part 1: a small subgradient is near the minimiser. *)
Theorem A4_small_subgradient mu C F w w_S p : 0 < mu -> convex_set C -> strongly_convex ip mu C F ->
  subgradient ip C F w p -> minimiser C F w_S -> norm (w - w_S) <= norm p / mu.
Proof.
move=> mu0 convexC convexF subw min.
apply: (le_quotient mu0) (norm_ge0 _ _) (norm_ge0 _ _) _.
have := strong_monotonicity convexC convexF subw ((minimiser_subgradient ip _ _ _).1 min).
by rewrite subr0 => h; apply: (le_trans h); exact: dot_norm.
Qed.

(* What a solver returns: within b of an exact minimiser. *)
Definition near_minimiser C F b w := exists2 w_S, minimiser C F w_S & norm (w - w_S) <= b.

(* Page A4, the statement: b is any bound on exact minimisers. *)
Theorem A4 mu tau b w w' w_S w_S' :
  norm (w_S - w_S') <= b -> norm (w - w_S) <= tau / mu -> norm (w' - w_S') <= tau / mu ->
  norm (w - w') <= b + 2 * tau / mu.
Proof.
move=> hb hw hw'; have h1 := norm_triangle3 ip w w_S w'.
have h2 := norm_triangle3 ip w_S w_S' w'; rewrite (norm_subC ip w_S' w') in h2.
have h3 := le_trans h1 (ler_add hw (le_trans h2 (ler_add hb hw'))).
by apply: (@le_by1 _ _ _ _ _ h3); set c := mu^-1; real_ring R.
Qed.

Lemma ridge_strongly_convex mu C : strongly_convex ip mu C (fun w => mu / 2 * norm w ^+ 2).
Proof.
move=> x y t _ _ _; rewrite !sqr_norm /between !(dotDl, dotDr, dotZl, dotZr, dotNl, dotNr, dotC ip y x).
by rewrite le_eqVlt; apply/orP; left; apply/eqP; real_fields R.
Qed.

Lemma quadratic_root (mu q e x : R) : 0 < mu -> mu * x ^+ 2 <= q * x + e ->
  x <= (q + Num.sqrt (q ^+ 2 + 4 * mu * e)) / (2 * mu).
Proof.
move=> mu0 h; have mu2 : 0 < 2 * mu by rewrite mulr_gt0 // ltr0n.
rewrite ler_pdivl_mulr // -ler_subl_addl.
apply: (le_trans (ler_norm _)); rewrite -sqrtr_sqr; apply: ler_wsqrtr.
have mu4 : 0 <= 4 * mu by rewrite mulr_ge0 ?ler0n // ltW.
by apply: (@le_by1 _ _ _ _ _ (ler_wpmul2l mu4 h)); real_ring R.
Qed.

(* Page L3, rounding: what errors f of the residual and h of the gap do to inequality (1). *)
Theorem L3_rounding (q f mu e h : R) : 0 <= q -> 0 <= f -> 0 <= mu -> 0 <= e -> 0 <= h ->
  (q + f + Num.sqrt ((q + f) ^+ 2 + 4 * mu * (e + h))) / 2 <=
  (q + Num.sqrt (q ^+ 2 + 4 * mu * e)) / 2 + f + Num.sqrt (mu * h).
Proof.
move=> q0 f0 mu0 e0 h0; set a := Num.sqrt (q ^+ 2 + 4 * mu * e); set c := Num.sqrt (mu * h).
have me0 : 0 <= 4 * mu * e by rewrite !mulr_ge0 ?ler0n.
have a0 : 0 <= a by exact: sqrtr_ge0.
have c0 : 0 <= c by exact: sqrtr_ge0.
have aa : a ^+ 2 = q ^+ 2 + 4 * mu * e by rewrite sqr_sqrtr // addr_ge0 ?sqr_ge0.
have cc : c ^+ 2 = mu * h by rewrite sqr_sqrtr // mulr_ge0.
have qa : q <= a by rewrite -[q]ger0_norm // -sqrtr_sqr ler_wsqrtr // ler_addl.
suff root : Num.sqrt ((q + f) ^+ 2 + 4 * mu * (e + h)) <= a + f + 2 * c.
  have half : 0 <= 2^-1 :> R by rewrite invr_ge0 ler0n.
  by apply: (@le_by1 _ _ _ _ _ (ler_wpmul2l half root)); real_fields R.
have s0 : 0 <= a + f + 2 * c by rewrite !addr_ge0 ?mulr_ge0 ?ler0n.
rewrite -[X in _ <= X]ger0_norm // -sqrtr_sqr; apply: ler_wsqrtr.
have h1 := ler_wpmul2l f0 qa; have h2 : 0 <= 4 * c * (a + f) by rewrite !mulr_ge0 ?addr_ge0 ?ler0n.
apply: (@le_by2 _ _ _ _ _ _ _ (ler_add h1 h1) h2).
have -> : 4 * mu * (e + h) = (a ^+ 2 - q ^+ 2) + 4 * c ^+ 2 by rewrite aa cc; real_ring R.
real_ring R.
Qed.

(* Page L3: losses with corners, one prediction a row. Row i has the weight share i (1/n for rows, 1/(n k_p) for the
   rows of a person, a_i/n for a class's count), the slope s i, and conjugate i at least the conjugate of phi i at s i.
   The minimiser is over all weights. *)
Variables (n : nat) (phi : 'I_n -> R -> R) (row : 'I_n -> V) (share s conjugate : 'I_n -> R) (mu : R).
Hypothesis mu_gt0 : 0 < mu.
Hypothesis phi_convex : forall i, convex_line (phi i).
Hypothesis share_ge0 : forall i, 0 <= share i.
Hypothesis Young : forall i t, s i * t - phi i t <= conjugate i.

Definition ridge_objective w := (\sum_i share i * phi i << w, row i >>) + mu / 2 * norm w ^+ 2.
Definition residual w := (\sum_i (share i * s i) *: row i) + mu *: w.
Definition gap w := \sum_i share i * (phi i << w, row i >> + conjugate i - s i * << w, row i >>).

Lemma gap_ge0 w : 0 <= gap w.
Proof.
apply: sumr_ge0 => i _; rewrite mulr_ge0 //.
by apply: (@le_by1 _ _ _ _ _ (Young i << w, row i >>)); real_ring R.
Qed.

(* L3, inequality (2). *)
Lemma L3_below w v : ridge_objective w + << residual w, v - w >> + mu / 2 * norm (v - w) ^+ 2 - gap w
  <= ridge_objective v.
Proof.
have sums : \sum_i share i * phi i << w, row i >> + << \sum_i (share i * s i) *: row i, v - w >> - gap w
    <= \sum_i share i * phi i << v, row i >>.
  rewrite dot_suml -big_split -sumrB; apply: ler_sum => i _ /=; rewrite dotZl dotBr !(dotC ip (row i)).
  have h := ler_wpmul2l (share_ge0 i) (Young i << v, row i >>).
  by apply: (@le_by1 _ _ _ _ _ h); real_ring R.
apply: (@le_by1 _ _ _ _ _ sums); rewrite /ridge_objective /residual !sqr_norm.
by rewrite !(dotDl, dotDr, dotZl, dotZr, dotNl, dotNr, dotC ip v w); real_fields R.
Qed.

Lemma ridge_objective_convex C : strongly_convex ip mu C ridge_objective.
Proof.
move=> x y t Cx Cy t01.
have h1 : \sum_i share i * phi i << between x y t, row i >> <=
    (1 - t) * (\sum_i share i * phi i << x, row i >>) + t * (\sum_i share i * phi i << y, row i >>).
  rewrite !mulr_sumr -big_split; apply: ler_sum => i _ /=.
  have h := ler_wpmul2l (share_ge0 i) (prediction_convex ip (row i) (phi_convex i) Cx Cy t01).
  by apply: (@le_by1 _ _ _ _ _ h); real_fields R.
have h2 := ridge_strongly_convex mu Cx Cy t01.
by apply: (@le_by2 _ _ _ _ _ _ _ h1 h2); rewrite /ridge_objective; real_fields R.
Qed.

(* L3, inequality (1). *)
Theorem L3 w w_S : minimiser (fun=> True) ridge_objective w_S ->
  norm (w - w_S) <= (norm (residual w) + Num.sqrt (norm (residual w) ^+ 2 + 4 * mu * gap w)) / (2 * mu).
Proof.
move=> min; apply: quadratic_root => //.
have h1 := L3_below w w_S.
have all : @convex_set R V (fun=> True) by [].
have h2 := strong_growth all (ridge_objective_convex (C := fun=> True))
  ((minimiser_subgradient ip _ _ _).1 min) (I : (fun=> True) w).
rewrite dot0l addr0 in h2.
have h3 := dot_norm ip (residual w) (w - w_S); rewrite -(opprB w w_S) dotNr normN in h1.
by apply: (@le_by1 _ _ _ _ _ (ler_add (ler_add h1 h2) h3)); real_fields R.
Qed.

End approximate.
