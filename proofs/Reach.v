(* Page ball.descent, and page SGD-rounding, part 2, over the real numbers: how far the weights of a run from 0 can go, and
   that two runs in one ball end within its diameter. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Gradients Descents Averages.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* A length that a step shrinks by 1 - e mu and enlarges by e g, from 0: at most c g a step, and at most g/mu. *)
Section lengths.
Variables (R : realType) (X eta : nat -> R) (c g mu : R).
Hypotheses (X0 : X 0%N = 0) (X_ge0 : forall t, 0 <= X t) (eta0 : forall t, 0 <= eta t) (below : forall t, eta t <= c).
Hypotheses (g0 : 0 <= g) (mu0 : 0 <= mu).
Add Field reals : (real_field R).

Lemma steps_reach T : (forall t, X t.+1 <= X t + eta t * g) -> X T <= T%:R * (c * g).
Proof.
move=> step; elim: T => [|T IH]; first by rewrite X0 mul0r.
apply: (le_trans (step T)); rewrite -addn1 natrD mulrDl mul1r; apply: ler_add => //.
by rewrite ler_wpmul2r.
Qed.

Lemma ridge_reach T : 0 < mu -> (forall t, eta t * mu <= 1) -> (forall t, X t.+1 <= (1 - eta t * mu) * X t + eta t * g) ->
  X T <= g / mu.
Proof.
move=> mu1 small step; elim: T => [|T IH]; first by rewrite X0 divr_ge0.
have q0 : 0 <= 1 - eta T * mu by rewrite subr_ge0.
apply: (le_trans (step T)); apply: (le_trans (ler_add (ler_wpmul2l q0 IH) (lexx _))).
have mg : mu * (g / mu) = g by rewrite mulrC divfK ?gt_eqF.
move: (g / mu) mg => z <-; rewrite le_eqVlt; apply/orP; left; apply/eqP; real_ring R.
Qed.

End lengths.

(* Two runs, or any two sequences of weights, in one ball: their last weights, and any public means of them. *)
Lemma ball_moves (R : realType) (V : lmodType R) (ip : inner_product V) (w w' : nat -> V) (weight : nat -> R) radius T :
  (forall t, (t <= T)%N -> norm ip (w t) <= radius /\ norm ip (w' t) <= radius) ->
  norm ip (w T - w' T) <= 2 * radius /\
  ((forall t, 0 <= weight t) -> \sum_(t < T.+1) weight t = 1 ->
    norm ip (mean weight T w - mean weight T w') <= 2 * radius).
Proof.
move=> inside; have apart t : (t <= T)%N -> norm ip (w t - w' t) <= 2 * radius.
  move=> tT; have [near near'] := inside t tT; apply: (le_trans (norm_triangle ip _ _)).
  by rewrite normN mulr_natl mulr2n ler_add.
split=> [|weight0 sum1]; first exact: apart.
apply: (le_trans (mean_moves (far := fun=> 2 * radius) weight0 apart)).
by rewrite -mulr_suml sum1 mul1r.
Qed.

Section reach.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Local Notation "<< x , y >>" := (dot ip x y) (at level 0, x at level 99, y at level 99).
Local Notation norm := (norm ip).
Add Field reals' : (real_field R).

Variables (Z : Type) (g : nat -> Z -> V -> V) (mu : R).
Variables (n b : nat) (batch : nat -> seq 'I_n) (eta : nat -> R) (after : nat -> V -> V).
Implicit Types (S : 'I_n -> Z) (t T : nat) (w x y : V) (weight : nat -> R).
Local Notation run := (run g mu b batch eta after 0).
Local Notation batch_gradient := (batch_gradient g b batch).

Variable c : R.
Hypotheses (mu0 : 0 <= mu) (b0 : (0 < b)%N) (eta0 : forall t, 0 <= eta t) (below : forall t, eta t <= c).
Hypothesis (few : forall t, (size (batch t) <= b)%N).
Hypothesis (nonexpansive : forall t x y, norm (after t x - after t y) <= norm (x - y)).
Hypothesis (after0 : forall t, after t 0 = 0).

Let shorter t x : norm (after t x) <= norm x.
Proof. by have := nonexpansive t x 0; rewrite after0 !subr0. Qed.

Let c0 : 0 <= c. Proof. exact: le_trans (eta0 0%N) (below 0%N). Qed.

Let inv0 : 0 <= b%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.

(* A mean over a batch, of at most b rows, is no larger than what bounds each. *)
Let batch_mean S t (f : Z -> R) (L : R) : 0 <= L -> (forall z, f z <= L) -> b%:R^-1 * (\sum_(i <- batch t) f (S i)) <= L.
Proof.
move=> L0 short.
rewrite mulrC ler_pdivr_mulr ?ltr0n //; apply: (@le_trans _ _ (\sum_(i <- batch t) L)).
  by apply: ler_sum => i _; exact: short.
by rewrite big_const_seq count_predT iter_addr_0 -[L *+ _]mulr_natr ler_wpmul2l // ler_nat.
Qed.

Lemma batch_short S t w (L : R) : 0 <= L -> (forall z, norm (g t z w) <= L) -> norm (batch_gradient S t w) <= L.
Proof.
move=> L0 short; rewrite normZ ger0_norm //.
apply: le_trans (@batch_mean S t (fun z => norm (g t z w)) L L0 short).
by rewrite ler_wpmul2l // norm_sum.
Qed.

Let stepE S t w (eta' : R) :
  descent_step mu eta' (batch_gradient S t) w = (1 - eta' * mu) *: w - eta' *: batch_gradient S t w.
Proof. by rewrite /descent_step scalerDr scalerA scalerBl scale1r opprD [- _ - _]addrC addrA. Qed.

Let square_step (q e : R) x y : norm (q *: x - e *: y) ^+ 2 =
  q ^+ 2 * norm x ^+ 2 + 2 * (q * e) * - << y, x >> + e ^+ 2 * << y, y >>.
Proof. by rewrite !sqr_norm !(dotBl, dotBr, dotZl, dotZr) (dotC ip x y); real_ring R. Qed.

Let step_length S t w (G : R) : norm (batch_gradient S t w) <= G ->
  norm (descent_step mu (eta t) (batch_gradient S t) w) <= `|1 - eta t * mu| * norm w + eta t * G.
Proof.
rewrite stepE; move: (batch_gradient S t w) => G' short; apply: (le_trans (norm_triangle ip _ _)); rewrite normN !normZ ler_add2l.
by rewrite ger0_norm // ler_wpmul2l.
Qed.

(* Gradients of norm at most L everywhere: T c L; with a ridge L/mu; and by how hard rows pull. *)
Section anywhere.
Variables (L P : R).
Hypotheses (L0 : 0 <= L) (short : forall t z w, norm (g t z w) <= L).

Lemma reach_steps S T : c * mu <= 2 -> norm (run S T) <= T%:R * (c * L).
Proof.
move=> small; apply: (@steps_reach R (fun t => norm (run S t)) eta) => // [|t]; first exact: norm0.
apply: (le_trans (shorter _ _)).
apply: (le_trans (step_length (batch_short S (w := run S t) L0 (fun z => short t z _)))).
rewrite ler_add2r ler_pimull ?norm_ge0 // ler_norml; have := ler_wpmul2r mu0 (below t) => em.
have em0 : 0 <= eta t * mu by exact: mulr_ge0.
apply/andP; split; last by rewrite ger_addl oppr_le0.
by rewrite ler_subr_addl ler_subl_addr (le_trans em) // (le_trans small).
Qed.

Lemma reach_ridge S T : 0 < mu -> c * mu <= 1 -> norm (run S T) <= L / mu.
Proof.
move=> ridge small; have em t : eta t * mu <= 1 by exact: le_trans (ler_wpmul2r mu0 (below t)) small.
apply: (@ridge_reach R (fun t => norm (run S t)) eta) => // [|t]; first exact: norm0.
apply: (le_trans (shorter _ _)).
apply: (le_trans (step_length (batch_short S (w := run S t) L0 (fun z => short t z _)))).
by rewrite ger0_norm // subr_ge0.
Qed.

Hypotheses (P0 : 0 <= P) (pulls : forall t z w, - << g t z w, w >> <= P).

Lemma reach_pull S T : 0 < mu -> c * mu <= 1 -> norm (run S T) <= Num.sqrt ((P + c * L ^+ 2) / mu).
Proof.
move=> ridge small; set W := (P + c * L ^+ 2) / mu.
have W0 : 0 <= W by rewrite divr_ge0 ?addr_ge0 ?mulr_ge0 ?sqr_ge0.
suff : norm (run S T) ^+ 2 <= W by move=> far; rewrite -(ger0_norm (norm_ge0 ip _)) -sqrtr_sqr ler_wsqrtr.
elim: T => [|T IH]; first by rewrite norm0 expr0n.
have em : eta T * mu <= 1 by exact: le_trans (ler_wpmul2r mu0 (below T)) small.
set w := run S T in IH *; set G := batch_gradient S T w; set e := eta T in em *.
have e0 : 0 <= e by exact: eta0.
apply: (@le_trans _ _ (norm (descent_step mu e (batch_gradient S T) w) ^+ 2)).
  by rewrite ler_expn2r ?nnegrE ?norm_ge0 //; exact: shorter.
have pulled : - << G, w >> <= P.
  rewrite /G /Descents.batch_gradient dotZl dot_suml -mulrN -sumrN.
  by apply: (@batch_mean S T (fun z => - << g T z w, w >>) P P0) => z; exact: pulls.
have long : << G, G >> <= L ^+ 2.
  by rewrite -sqr_norm ler_expn2r ?nnegrE ?norm_ge0 //; exact: batch_short.
have mW : mu * W = P + c * L ^+ 2 by rewrite /W mulrC divfK ?gt_eqF.
pose q := 1 - e * mu; have q0 : 0 <= q by rewrite subr_ge0.
have qe0 : 0 <= q * e by exact: mulr_ge0.
have -> : norm (descent_step mu e (batch_gradient S T) w) ^+ 2 =
    q ^+ 2 * norm w ^+ 2 + 2 * (q * e) * - << G, w >> + e ^+ 2 * << G, G >>.
  by rewrite stepE square_step.
have kept : q ^+ 2 * norm w ^+ 2 <= q ^+ 2 * W by rewrite ler_wpmul2l ?sqr_ge0.
have pull : 2 * (q * e) * - << G, w >> <= 2 * (q * e) * P by rewrite ler_wpmul2l // mulr_ge0 ?ler0n.
have push : e ^+ 2 * << G, G >> <= e ^+ 2 * L ^+ 2 by rewrite ler_wpmul2l ?sqr_ge0.
have ec : e <= c by exact: below.
have q1 : 0 <= e * mu * (e * P) by rewrite !mulr_ge0.
have more : e ^+ 2 * L ^+ 2 <= (1 + q) * e * (c * L ^+ 2).
  rewrite expr2 mulrA ler_wpmul2r ?sqr_ge0 //; apply: (@le_trans _ _ (1 * e * c)); first by rewrite mul1r ler_wpmul2l.
  by rewrite ler_wpmul2r // ler_wpmul2r // ler_addl.
apply: (le_trans (ler_add (ler_add kept pull) (le_trans push more))).
have total : q ^+ 2 * W + (1 + q) * e * (mu * W) = W by rewrite /q; real_ring R.
rewrite -[leRHS]total mW; apply: (@le_by1 _ _ _ _ _ q1); rewrite /q; real_ring R.
Qed.

End anywhere.

(* Smooth losses: the gradient at 0 alone counts, where steps keep the limit of page B3. *)
Section smooth.
Variables (loss : nat -> Z -> V -> R) (beta L : R).
Hypotheses (beta0 : 0 <= beta) (smooth_losses : forall t z, smooth ip beta (loss t z) (g t z)).
Hypotheses (L0 : 0 <= L) (at_0 : forall t z, norm (g t z 0) <= L) (small : c * (beta + 2 * mu) <= 2).

Let limit t : eta t * (beta + 2 * mu) <= 2.
Proof. by apply: le_trans small; rewrite ler_wpmul2r // addr_ge0 ?mulr_ge0 ?ler0n. Qed.

Let ridge t : eta t * mu <= 1.
Proof.
rewrite -(ler_pmul2l (ltr0n R 2 : 0 < 2)) mulr1; apply: le_trans (limit t).
by rewrite mulrCA ler_wpmul2l // ler_addr.
Qed.

Let smooth_step S t : norm (run S t.+1) <= (1 - eta t * mu) * norm (run S t) + eta t * L.
Proof.
apply: (le_trans (shorter _ _)); set w := run S t.
have cocoercive := gradient_cocoercive beta0 (batch_smooth beta0 b0 smooth_losses S (few t)).
have := gradient_step_shrinks mu w 0 beta0 (eta0 t) cocoercive; rewrite shrinkage_small // subr0 => common.
have start : norm (descent_step mu (eta t) (batch_gradient S t) 0) <= eta t * L.
  have := step_length (S := S) (t := t) (batch_short S (w := 0) L0 (fun z => at_0 t z)).
  by rewrite norm0 mulr0 add0r.
have := norm_triangle ip (descent_step mu (eta t) (batch_gradient S t) w - descent_step mu (eta t) (batch_gradient S t) 0)
  (descent_step mu (eta t) (batch_gradient S t) 0).
by rewrite subrK => /le_trans; apply; exact: ler_add.
Qed.

Lemma smooth_reach_steps S T : norm (run S T) <= T%:R * (c * L).
Proof.
apply: (@steps_reach R (fun t => norm (run S t)) eta) => // [|t]; first exact: norm0.
apply: (le_trans (smooth_step S t)); rewrite ler_add2r ler_pimull ?norm_ge0 // ger_addl oppr_le0.
exact: mulr_ge0.
Qed.

Lemma smooth_reach_ridge S T : 0 < mu -> norm (run S T) <= L / mu.
Proof.
by move=> mu1; apply: (@ridge_reach R (fun t => norm (run S t)) eta) => //; exact: norm0.
Qed.

End smooth.

(* The page, with the radii of page SGD-rounding: gradients of norm at most L, anywhere or, of smooth losses, at 0. *)
Theorem ball_descent S T :
  [/\ forall (w w' : nat -> V) weight radius, (forall t, (t <= T)%N -> norm (w t) <= radius /\ norm (w' t) <= radius) ->
        norm (w T - w' T) <= 2 * radius /\
        ((forall t, 0 <= weight t) -> \sum_(t < T.+1) weight t = 1 ->
          norm (mean weight T w - mean weight T w') <= 2 * radius),
      forall L, 0 <= L -> (forall t z w, norm (g t z w) <= L) ->
        [/\ c * mu <= 2 -> norm (run S T) <= T%:R * (c * L),
            0 < mu -> c * mu <= 1 -> norm (run S T) <= L / mu &
            forall P, 0 <= P -> (forall t z w, - << g t z w, w >> <= P) -> 0 < mu -> c * mu <= 1 ->
              norm (run S T) <= Num.sqrt ((P + c * L ^+ 2) / mu)] &
      forall (loss : nat -> Z -> V -> R) beta L, 0 <= beta -> (forall t z, smooth ip beta (loss t z) (g t z)) ->
        0 <= L -> (forall t z, norm (g t z 0) <= L) -> c * (beta + 2 * mu) <= 2 ->
        norm (run S T) <= T%:R * (c * L) /\ (0 < mu -> norm (run S T) <= L / mu)].
Proof.
split=> [w w' weight radius|L L0 short|loss beta L beta0 smooth_losses L0 at_0 small]; first exact: ball_moves.
  split=> [small|ridge small|P P0 pulls ridge small]; first exact: (reach_steps L0 short S T small).
    exact: (reach_ridge L0 short S T ridge small).
  exact: (reach_pull L0 short P0 pulls S T ridge small).
split=> [|ridge]; first exact: (smooth_reach_steps beta0 smooth_losses L0 at_0 small S T).
exact: (smooth_reach_ridge beta0 smooth_losses L0 at_0 small S T ridge).
Qed.

End reach.
