(* Pages B1, B3 and B4: how far one row moves a run of gradient steps on smooth convex losses. Steps are numbered from 0
   here, so that step t of the pages is t - 1. *)

From mathcomp Require Import all_ssreflect ssralg ssrnum.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From Equipoise Require Import Arithmetic InnerProduct Minimisers Losses Gradients.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section passes.
Variable R : realType.
Implicit Types (hit : nat -> bool) (W top a q D : nat -> R).
Add Field reals : (real_field R).

(* A sum over hits, of which a pass of m steps has at most one. *)
Lemma pass_sum (T m k : nat) hit W top : (T <= k * m)%N -> (forall e, 0 <= top e) ->
  (forall t, (t < T)%N -> hit t -> W t <= top (t %/ m)%N) ->
  (forall t t', (t < T)%N -> (t' < T)%N -> hit t -> hit t' -> (t %/ m = t' %/ m)%N -> t = t') ->
  \sum_(t < T | hit t) W t <= \sum_(e < k) top e.
Proof.
move=> Tkm top0 below once.
have pass (t : 'I_T) : (t %/ m < k)%N.
  have [m0|m0] := posnP m; first by move: (leq_trans (ltn_ord t) Tkm); rewrite m0 muln0.
  by rewrite ltn_divLR // (leq_trans (ltn_ord t)).
rewrite (partition_big (fun t => Ordinal (pass t)) xpredT) //=; apply: ler_sum => e _.
have [t Pt|none] := pickP (fun t : 'I_T => hit t && (Ordinal (pass t) == e)); last by rewrite big_pred0.
have /andP[hit_t /eqP te] := Pt; rewrite (bigD1 t) //= big1 => [|t' /andP[/andP[hit_t' /eqP te'] neq]].
  by rewrite addr0 (le_trans (below t (ltn_ord t) hit_t)) // -(congr1 val te).
exfalso; move/negP: neq; apply; apply/eqP/val_inj/(once _ _ (ltn_ord t') (ltn_ord t)) => //.
by have := congr1 val te'; rewrite -te.
Qed.

(* A distance that a step multiplies by q and a hit enlarges by a. *)
Lemma hits_sum D a q hit T : D 0%N <= 0 -> (forall t, (t < T)%N -> 0 <= q t) ->
  (forall t, (t < T)%N -> D t.+1 <= q t * D t + (if hit t then a t else 0)) ->
  D T <= \sum_(t < T | hit t) a t * \prod_(t.+1 <= s < T) q s.
Proof.
move=> D0; elim: T => [|T IH] q0 step; first by rewrite big_ord0.
have {}IH : D T <= \sum_(t < T | hit t) a t * \prod_(t.+1 <= s < T) q s.
  by apply: IH => t tT; [apply: q0|apply: step]; exact: ltnW.
apply: (le_trans (step T (ltnSn T))); rewrite big_mkcond big_ord_recr /= -big_mkcond /=.
apply: ler_add; last by case: (hit T); rewrite // big_geq // mulr1.
apply: (le_trans (ler_wpmul2l (q0 T (ltnSn T)) IH)); rewrite mulr_sumr.
by apply: ler_sum => t _; rewrite big_nat_recr //= mulrA mulrC.
Qed.

Lemma product_le1 q j T : (forall s, (j <= s < T)%N -> 0 <= q s <= 1) -> \prod_(j <= s < T) q s <= 1.
Proof.
move=> q01; rewrite big_nat; suff /andP[] : 0 <= \prod_(j <= s < T | (j <= s < T)%N) q s <= 1 by [].
elim/big_rec: _ => [|s x /q01/andP[s0 s1] /andP[x0 x1]]; first by rewrite ler01 lexx.
by rewrite mulr_ge0 //= mulr_ile1.
Qed.

(* The sum of a geometric series. *)
Lemma geometric (x : R) k : x < 1 -> \sum_(i < k) x ^+ i = (1 - x ^+ k) / (1 - x).
Proof.
move=> x1; have nz : 1 - x != 0 by rewrite subr_eq0 gt_eqF.
by apply: (mulIf nz); rewrite mulfVK // -[RHS]opprB subrX1 -mulNr opprB mulrC.
Qed.

End passes.

Section runs.
Variables (R : realType) (V : lmodType R) (ip : inner_product V).
Local Notation norm := (norm ip).
Add Field reals : (real_field R).

Lemma norm_sum I (r : seq I) (P : pred I) (f : I -> V) :
  norm (\sum_(i <- r | P i) f i) <= \sum_(i <- r | P i) norm (f i).
Proof.
elim/big_rec2: _ => [|i a v _ le]; first by rewrite norm0.
by rewrite (le_trans (norm_triangle ip _ _)) // ler_add2l.
Qed.

(* Rows, the gradient of the loss on a row, the ridge, and a run: batches of nominal size b, steps, and a map after each
   step (the soft threshold, the projection, or both). Every step has losses of its own, as public masks of the columns
   give it (page B6). *)
Variables (Z : Type) (loss : nat -> Z -> V -> R) (g : nat -> Z -> V -> V) (mu : R).
Variables (n b : nat) (batch : nat -> seq 'I_n) (eta : nat -> R) (after : nat -> V -> V) (start : V).
Implicit Types (S : 'I_n -> Z) (t T m k : nat).

Definition batch_gradient S t w := b%:R^-1 *: \sum_(i <- batch t) g t (S i) w.

Fixpoint run S T :=
  if T is t.+1 then after t (descent_step mu (eta t) (batch_gradient S t) (run S t)) else start.

Variables (beta Gam : R) (visited : V -> Prop).
Hypotheses (beta0 : 0 <= beta) (mu0 : 0 <= mu) (b0 : (0 < b)%N) (eta0 : forall t, 0 <= eta t).
Hypothesis (smooth_losses : forall t z, smooth ip beta (loss t z) (g t z)).

Let inv0 : 0 <= b%:R^-1 :> R. Proof. by rewrite invr_ge0 ler0n. Qed.

Lemma batch_smooth S t : (size (batch t) <= b)%N ->
  smooth ip beta (fun w => b%:R^-1 * \sum_(i <- batch t) loss t (S i) w) (batch_gradient S t).
Proof.
move=> few; split=> [w|w v].
  split=> // v _; rewrite dotZl dot_suml -mulrDr -big_split; apply: ler_wpmul2l => //.
  by apply: ler_sum => i _; have [_ ] := (smooth_losses t (S i)).1 w; apply.
rewrite /batch_gradient -scalerBr -sumrB normZ ger0_norm //.
apply: (@le_trans _ _ (b%:R^-1 * ((size (batch t))%:R * (beta * norm (w - v))))).
  apply: ler_wpmul2l => //; apply: (le_trans (norm_sum _ _ _)).
  rewrite (le_trans (ler_sum _ (fun i _ => (smooth_losses t (S i)).2 w v))) //.
  by rewrite big_const_seq count_predT iter_addr_0 mulr_natl.
have far : 0 <= beta * norm (w - v) by rewrite mulr_ge0 ?norm_ge0.
by rewrite [X in X <= _]mulrA ler_pimull // ler_pdivr_mull ?ltr0n // mulr1 ler_nat.
Qed.

Hypothesis (batches : forall t, uniq (batch t) /\ (size (batch t) <= b)%N).
Hypothesis (nonexpansive : forall t x y, norm (after t x - after t y) <= norm (x - y)).
Hypothesis (visits : forall S t, visited (run S t)).
Hypothesis (diameter : forall t z z' w, visited w -> norm (g t z w - g t z' w) <= Gam).

(* One step: what the two runs had, shrunk, and eta Gam/b if the batch holds the row. *)
Lemma run_step S S' i t : (forall j, j != i -> S j = S' j) ->
  norm (run S t.+1 - run S' t.+1) <= shrinkage beta mu (eta t) * norm (run S t - run S' t)
    + (if i \in batch t then eta t * (Gam / b%:R) else 0).
Proof.
move=> same; rewrite (le_trans (nonexpansive _ _ _)) //.
set w := run S t; set v := run S' t.
apply: (le_trans (norm_triangle3 ip _ (descent_step mu (eta t) (batch_gradient S t) v) _)).
apply: ler_add.
  apply: gradient_step_shrinks => //; apply/(gradient_cocoercive beta0)/batch_smooth => //.
  by have [] := batches t.
have -> : descent_step mu (eta t) (batch_gradient S t) v - descent_step mu (eta t) (batch_gradient S' t) v =
    - (eta t *: (batch_gradient S t v - batch_gradient S' t v)).
  by rewrite /descent_step opprD addrACA subrr add0r -opprD -scalerBr opprD addrACA subrr addr0.
rewrite normN normZ ger0_norm // -scalerBr -sumrB normZ ger0_norm //.
case: ifP => [hit|/negP miss]; last first.
  rewrite big_seq big1 ?norm0 ?mulr0 // => j jt.
  by rewrite same ?subrr //; apply: contraPneq jt => ->; exact: miss.
rewrite (bigD1_seq i) ?(batches t).1 //= big1 => [|j /same ->]; last by rewrite subrr.
rewrite addr0 ler_wpmul2l // mulrC ler_wpmul2r //; exact/diameter/visits.
Qed.

(* After T steps. *)
Lemma run_hits S S' i T : (forall j, j != i -> S j = S' j) ->
  norm (run S T - run S' T) <=
    \sum_(t < T | i \in batch t) eta t * (Gam / b%:R) * \prod_(t.+1 <= s < T) shrinkage beta mu (eta s).
Proof.
move=> same; apply: (@hits_sum _ (fun t => norm (run S t - run S' t)) (fun t => eta t * (Gam / b%:R))
  (fun t => shrinkage beta mu (eta t)) (fun t => i \in batch t)) => [|t _|t _].
- by rewrite subrr norm0.
- exact: shrinkage_ge0.
- exact: run_step.
Qed.

(* In every pass of m steps a row is in at most one batch. *)
Definition passes m := forall i t t', (t %/ m = t' %/ m)%N -> i \in batch t -> i \in batch t' -> t = t'.

(* All passes take the rows in one order. *)
Definition one_order m := forall t, batch (t + m)%N = batch t.

Theorem B1 S S' m k T (top : nat -> R) : neighbours S S' -> passes m -> (T <= k * m)%N ->
  (forall t, (t < T)%N -> eta t * (beta + mu) <= 2) ->
  (forall e, 0 <= top e) -> (forall t, (t < T)%N -> eta t <= top (t %/ m)%N) ->
  norm (run S T - run S' T) <= Gam / b%:R * \sum_(e < k) top e.
Proof.
move=> [i same] once Tkm small top0 below; apply: (le_trans (run_hits T same)).
have c0 : 0 <= Gam / b%:R.
  have := diameter 0 (S i) (S i) (visits S 0); rewrite subrr norm0 => Gam0.
  by rewrite mulr_ge0.
rewrite mulr_sumr.
apply: (@pass_sum _ T m k (fun t => i \in batch t)
  (fun t => eta t * (Gam / b%:R) * \prod_(t.+1 <= s < T) shrinkage beta mu (eta s))
  (fun e => Gam / b%:R * top e)) => // [e|t tT _|t t' _ _ ti ti' e]; last exact: (once i).
  exact: mulr_ge0.
have prod1 : \prod_(t.+1 <= s < T) shrinkage beta mu (eta s) <= 1.
  by apply: product_le1 => s /andP[_ sT]; rewrite shrinkage_ge0 shrinkage_le1 // small.
apply: le_trans (ler_pimulr _ prod1) _; first exact: mulr_ge0.
by rewrite mulrC; apply: ler_wpmul2l => //; exact: below.
Qed.

Corollary B1_constant S S' m k T (c : R) : neighbours S S' -> passes m -> (T <= k * m)%N ->
  (forall t, eta t = c) -> c * (beta + mu) <= 2 ->
  norm (run S T - run S' T) <= k%:R * c * Gam / b%:R.
Proof.
move=> adj once Tkm const small.
have c0 : 0 <= c by rewrite -(const 0%N).
have -> : k%:R * c * Gam / b%:R = Gam / b%:R * \sum_(e < k) c.
  by rewrite sumr_const card_ord -[c *+ k]mulr_natl [RHS]mulrC !mulrA.
by apply: (B1 (m := m)) => // t _; rewrite const.
Qed.

(* A mean of weights moves no further than all of them. *)
Lemma average_moves S S' T (weight : nat -> R) (far : R) :
  (forall t, 0 <= weight t) -> \sum_(t < T.+1) weight t = 1 ->
  (forall t, (t <= T)%N -> norm (run S t - run S' t) <= far) ->
  norm (\sum_(t < T.+1) weight t *: run S t - \sum_(t < T.+1) weight t *: run S' t) <= far.
Proof.
move=> weight0 sum1 near; rewrite -sumrB; apply: (le_trans (norm_sum _ _ _)).
rewrite -[far]mul1r -sum1 mulr_suml; apply: ler_sum => t _.
rewrite -scalerBr normZ ger0_norm //; apply: ler_wpmul2l => //.
by apply: near; rewrite -ltnS.
Qed.

Section constant.
Variables (c : R) (m : nat).
Hypotheses (const : forall t, eta t = c) (ridge : 0 < mu) (c0 : 0 < c) (small : c * (beta + mu) < 2) (m0 : (0 < m)%N).
Let q := shrinkage beta mu c.
Let q0 : 0 <= q. Proof. exact: shrinkage_ge0. Qed.
Let q1 : q < 1. Proof. exact: shrinkage_lt1. Qed.
Let qm1 : q ^+ m < 1. Proof. by rewrite exprn_ilt1 // -lt0n. Qed.

Let powers S S' i T : (forall j, j != i -> S j = S' j) ->
  norm (run S T - run S' T) <= c * Gam / b%:R * \sum_(t < T | i \in batch t) q ^+ (T - t.+1).
Proof.
move=> same; apply: (le_trans (run_hits T same)); rewrite mulr_sumr; apply: ler_sum => t _.
by rewrite const mulrA; under eq_bigr do rewrite const; rewrite prodr_const_nat.
Qed.

Let gain0 S : 'I_n -> 0 <= c * Gam / b%:R.
Proof.
move=> i; have := diameter 0 (S i) (S i) (visits S 0); rewrite subrr norm0 => Gam0.
by rewrite !mulr_ge0 // ltW.
Qed.

Let shorter j l : (l <= j)%N -> q ^+ j <= q ^+ l.
Proof. by move=> lj; rewrite -(subnK lj) exprD ler_pimull ?exprn_ge0 // exprn_ile1 // ltW. Qed.

(* One order for all passes; at every T up to k m. *)
Theorem B3_one_order S S' k T : neighbours S S' -> passes m -> one_order m -> (T <= k * m)%N ->
  norm (run S T - run S' T) <= c * Gam / b%:R * ((1 - q ^+ (k * m)) / (1 - q ^+ m)).
Proof.
move=> [i same] once order Tkm; apply: (le_trans (powers T same)).
apply: ler_wpmul2l; first exact: gain0.
rewrite mulnC exprM -geometric // (reindex_inj rev_ord_inj) /=.
have turn (t : 'I_T) : (T - (T - t.+1).+1 = t)%N by rewrite subnS subKn //.
under eq_bigr do rewrite turn.
have periodic t e : batch (t + e * m)%N = batch t.
  by elim: e => [|e IH]; rewrite ?mul0n ?addn0 // mulSn addnCA addnC order.
have place t : batch t = batch (t %% m)%N by rewrite {1}(divn_eq t m) addnC periodic.
apply: (@pass_sum _ T m k (fun u => i \in batch (T - u.+1)%N) (fun u => q ^+ u)) => // [e|u uT _|u u' uT u'T].
- by rewrite exprn_ge0 // exprn_ge0.
- by rewrite -exprM; apply: shorter; rewrite mulnC leq_trunc_div.
rewrite place (place (T - u'.+1)%N) => hit hit' same_block.
have /(once i) : ((T - u.+1) %% m %/ m = (T - u'.+1) %% m %/ m)%N by rewrite !divn_small ?ltn_mod.
move=> /(_ hit hit') same_place; rewrite (divn_eq u m) (divn_eq u' m) same_block; congr (_ + _)%N.
have total x : (x < T)%N -> (x + (T - x.+1).+1 = T)%N by move=> xT; rewrite addnS -addSn subnKC.
have same_rest : (T - u.+1).+1 = (T - u'.+1).+1 %[mod m].
  by rewrite -(addn1 (T - u.+1)) -(addn1 (T - u'.+1)) -modnDml same_place modnDml.
apply/eqP; rewrite -[_ == _]/(u == u' %[mod m]) -(eqn_modDr (T - u.+1).+1) total //.
by rewrite -[in X in _ == X]modnDmr same_rest modnDmr total.
Qed.

(* A fresh order each pass: T = k m + r, k whole passes before the last. *)
Theorem B3_fresh_orders S S' k r T : neighbours S S' -> passes m -> T = (k * m + r)%N -> (0 < r <= m)%N ->
  norm (run S T - run S' T) <= c * Gam / b%:R * (1 + q ^+ r * (1 - q ^+ (k * m)) / (1 - q ^+ m)).
Proof.
move=> [i same] once Tkm /andP[r0 rm]; apply: (le_trans (powers T same)).
apply: ler_wpmul2l; first exact: gain0.
pose top e := if (e < k)%N then q ^+ r * (q ^+ m) ^+ (k - e.+1) else 1.
apply: (@le_trans _ _ (\sum_(e < k.+1) top e)).
  apply: (@pass_sum _ T m k.+1 (fun t => i \in batch t) (fun t => q ^+ (T - t.+1))) => [|e|t tT _|t t' _ _ ti ti' e].
  - by rewrite Tkm mulSn addnC leq_add2r.
  - by rewrite /top; case: ifP; rewrite ?ler01 // mulr_ge0 // !exprn_ge0.
  - rewrite /top; case: ifP => [ek|_]; last by rewrite exprn_ile1 // ltW.
    rewrite -exprM -exprD; apply: shorter; rewrite Tkm.
    have last : (t.+1 <= (t %/ m).+1 * m)%N by rewrite mulSn {1}(divn_eq t m) addnC -addSn leq_add2r ltn_mod.
    have -> : (r + m * (k - (t %/ m).+1) = k * m + r - (t %/ m).+1 * m)%N.
      by rewrite [(m * _)%N]mulnC mulnBl addnBA ?leq_mul2r ?ek ?orbT // addnC.
    exact: leq_sub2l.
  - exact: (once i).
rewrite big_ord_recr /= {2}/top ltnn addrC ler_add2l -mulrA.
rewrite (eq_bigr (fun e : 'I_k => q ^+ r * (q ^+ m) ^+ (k - e.+1))) => [|e _]; last by rewrite /top ltn_ord.
rewrite -mulr_sumr (reindex_inj rev_ord_inj) /= mulnC exprM -geometric //.
by under eq_bigr => e _ do rewrite subnS subKn //.
Qed.

(* Fresh orders at every t <= T, where T is at most k + 1 passes: the page's second form with r = 1. *)
Theorem B3_every S S' k T t : neighbours S S' -> passes m -> (t <= T)%N -> (T <= k.+1 * m)%N ->
  norm (run S t - run S' t) <= c * Gam / b%:R * (1 + q * (1 - q ^+ (k * m)) / (1 - q ^+ m)).
Proof.
move=> adj once tT Tkm; have [i _] := adj.
have qm0 : 0 < 1 - q ^+ m by rewrite subr_gt0.
have gain := gain0 S i.
have le1 j : 0 <= 1 - q ^+ j by rewrite subr_ge0 exprn_ile1 // ltW.
case: t tT => [_|t tT].
  rewrite subrr norm0 mulr_ge0 // addr_ge0 // divr_ge0 ?(ltW qm0) // mulr_ge0 //.
have r0 : (0 < (t %% m).+1 <= m)%N by rewrite ltnS leq0n ltn_mod.
have split : t.+1 = (t %/ m * m + (t %% m).+1)%N by rewrite addnS -divn_eq.
apply: (le_trans (B3_fresh_orders adj once split r0)); apply: ler_wpmul2l => //.
rewrite ler_add2l ler_wpmul2r ?invr_ge0 ?(ltW qm0) //.
have shorter1 : q ^+ (t %% m).+1 <= q by rewrite -[X in _ <= X]expr1; exact: shorter.
have fewer : (t %/ m * m <= k * m)%N.
  by rewrite leq_mul2r -ltnS ltn_divLR // (leq_trans tT Tkm) orbT.
apply: ler_pmul => //; first exact: exprn_ge0.
by rewrite ler_sub // shorter.
Qed.

(* Averages, at any times with any weights that sum to 1. *)
Corollary B3_average S S' k T (weight : nat -> R) : neighbours S S' -> passes m -> (T <= k.+1 * m)%N ->
  (forall t, 0 <= weight t) -> \sum_(t < T.+1) weight t = 1 ->
  norm (\sum_(t < T.+1) weight t *: run S t - \sum_(t < T.+1) weight t *: run S' t) <=
    c * Gam / b%:R * (1 + q * (1 - q ^+ (k * m)) / (1 - q ^+ m)).
Proof.
move=> adj once Tkm weight0 sum1.
apply: (average_moves weight0 sum1) => t tT; exact: (B3_every adj once tT Tkm).
Qed.

Corollary B3_average_one_order S S' k T (weight : nat -> R) : neighbours S S' -> passes m -> one_order m ->
  (T <= k * m)%N -> (forall t, 0 <= weight t) -> \sum_(t < T.+1) weight t = 1 ->
  norm (\sum_(t < T.+1) weight t *: run S t - \sum_(t < T.+1) weight t *: run S' t) <=
    c * Gam / b%:R * ((1 - q ^+ (k * m)) / (1 - q ^+ m)).
Proof.
move=> adj once order Tkm weight0 sum1.
apply: (average_moves weight0 sum1) => t tT; exact: (B3_one_order adj once order (leq_trans tT Tkm)).
Qed.

(* The page as one theorem; T is in the pass k + 1, or at its end. *)
Theorem B3 S S' k T : neighbours S S' -> passes m -> (T <= k.+1 * m)%N ->
  let one := c * Gam / b%:R * ((1 - q ^+ (k.+1 * m)) / (1 - q ^+ m)) in
  let fresh r := c * Gam / b%:R * (1 + q ^+ r * (1 - q ^+ (k * m)) / (1 - q ^+ m)) in
  let mean (weight : nat -> R) S := \sum_(t < T.+1) weight t *: run S t in
  [/\ one_order m -> norm (run S T - run S' T) <= one,
      forall r, T = (k * m + r)%N -> (0 < r <= m)%N -> norm (run S T - run S' T) <= fresh r &
      forall weight, (forall t, 0 <= weight t) -> \sum_(t < T.+1) weight t = 1 ->
        (one_order m -> norm (mean weight S - mean weight S') <= one) /\
        norm (mean weight S - mean weight S') <= fresh 1%N].
Proof.
move=> adj once Tkm; split=> [order|r Tr r0|weight weight0 sum1].
- exact: B3_one_order.
- exact: B3_fresh_orders.
- split=> [order|]; first exact: B3_average_one_order.
  by rewrite expr1; exact: B3_average.
Qed.

End constant.

(* Steps that shrink like 1/t; every hit contributes at most Gam/(b decay T). Both runs are together until their first
   hit, so that only the second step and later ones, which are shorter, need a limit. *)
Theorem B4 S S' m k T (step decay : R) : neighbours S S' -> passes m -> (0 < T)%N -> (T <= k * m)%N ->
  0 < step -> 0 < decay -> decay <= mu -> eta 1%N * (beta + 2 * mu) <= 2 ->
  (forall t, eta t = Num.min step (decay * t.+1%:R)^-1) ->
  norm (run S T - run S' T) <= k%:R * (Gam / (b%:R * decay * T%:R)).
Proof.
move=> [i same] once T0 Tkm step0 decay0 ridge small steps; apply: (le_trans (run_hits T same)).
have inverse t : 0 < (decay * t.+1%:R)^-1 by rewrite invr_gt0 mulr_gt0 // ltr0n.
have room t : eta t.+1 * (beta + 2 * mu) <= 2.
  apply: le_trans small; apply: ler_wpmul2r; first by rewrite addr_ge0 // mulr_ge0 // ler0n.
  rewrite !steps le_minr !le_minl lexx /= lef_pinv ?posrE ?mulr_gt0 ?ltr0n //.
  by rewrite ler_wpmul2l ?ler_nat ?orbT // ltW.
have shrinks t : shrinkage beta mu (eta t.+1) = 1 - eta t.+1 * mu by exact: shrinkage_small.
have Gam0 : 0 <= Gam / b%:R.
  have := diameter 0 (S i) (S i) (visits S 0); rewrite subrr norm0 => Gam0; exact: mulr_ge0.
(* what is left of a hit at s after step t is at most the length of step t *)
have left_of s t : (s <= t)%N -> eta s * \prod_(s.+1 <= r < t.+1) shrinkage beta mu (eta r) <= eta t.
  move=> /subnK <-; elim: (t - s)%N => [|e IH]; first by rewrite big_geq // mulr1.
  rewrite addSn big_nat_recr /=; last by rewrite ltnS leq_addl.
  set t' := (e + s)%N in IH *; rewrite mulrA.
  have q0 := shrinkage_ge0 beta mu (eta t'.+1).
  have q1 : shrinkage beta mu (eta t'.+1) <= 1.
    by rewrite shrinks ler_subl_addr ler_addl mulr_ge0.
  apply: (le_trans (ler_wpmul2r q0 IH)).
  rewrite [X in _ <= X]steps le_minr; apply/andP; split.
    by rewrite (le_trans (ler_pimulr _ q1)) // steps le_minl lexx.
  have [short|long] := lerP step (decay * t'.+2%:R)^-1.
    by rewrite (le_trans (ler_pimulr _ q1)) // steps le_minl short.
  have -> : shrinkage beta mu (eta t'.+1) = 1 - (decay * t'.+2%:R)^-1 * mu.
    by rewrite shrinks steps; congr (1 - _ * _); apply/min_idPr; exact: ltW.
  have d0 : 0 < t'.+1%:R :> R by rewrite ltr0n.
  have d1 : t'.+2%:R = t'.+1%:R + 1 :> R by rewrite -addn1 natrD.
  have d2 : 0 < t'.+1%:R + 1 :> R by rewrite -d1 ltr0n.
  apply: (@le_trans _ _ ((decay * t'.+1%:R)^-1 * (1 - (decay * t'.+2%:R)^-1 * decay))).
    apply: ler_pmul => //.
    - by rewrite shrinks steps (min_idPr (ltW long)) in q0.
    - by rewrite steps le_minl lexx orbT.
    - by rewrite ler_sub // ler_wpmul2l // ltW.
  rewrite d1 le_eqVlt; apply/orP; left; apply/eqP; move: d0 d2; set N := t'.+1%:R => d0 d2.
  by real_fields R; apply/eqP; rewrite gt_eqF.
apply: (@le_trans _ _ (\sum_(e < k) Gam / (b%:R * decay * T%:R))); last first.
  by rewrite sumr_const card_ord -[X in X <= _]mulr_natl.
have -> : Gam / (b%:R * decay * T%:R) = (decay * T%:R)^-1 * (Gam / b%:R).
  by rewrite -[b%:R * _ * _]mulrA invfM [RHS]mulrC mulrA.
apply: (@pass_sum _ T m k (fun t => i \in batch t)
  (fun t => eta t * (Gam / b%:R) * \prod_(t.+1 <= s < T) shrinkage beta mu (eta s))
  (fun=> (decay * T%:R)^-1 * (Gam / b%:R))) => // [_|t tT _|t t' _ _ ti ti' e]; last exact: (once i).
  by rewrite mulr_ge0 // invr_ge0 mulr_ge0 ?ler0n // ltW.
rewrite mulrAC ler_wpmul2r //; case: T T0 tT {Tkm} => // T' _ tT.
by rewrite (le_trans (left_of t T' _)) // steps le_minl lexx orbT.
Qed.

(* The page's limit, on the step itself. *)
Corollary B4_capped S S' m k T (step decay : R) : neighbours S S' -> passes m -> (0 < T)%N -> (T <= k * m)%N ->
  0 < step -> 0 < decay -> decay <= mu -> step * (beta + 2 * mu) <= 2 ->
  (forall t, eta t = Num.min step (decay * t.+1%:R)^-1) ->
  norm (run S T - run S' T) <= k%:R * (Gam / (b%:R * decay * T%:R)).
Proof.
move=> adj once T0 Tkm step0 decay0 ridge small steps; apply: (B4 adj once T0 Tkm step0 decay0 ridge _ steps).
apply: le_trans small; rewrite ler_wpmul2r ?steps ?le_minl ?lexx //.
by rewrite addr_ge0 // mulr_ge0 // ler0n.
Qed.

(* The checker's: step (beta + mu) is at most 1, with room for every rounding, where steps decay as the ridge says. *)
Corollary B4_checked S S' m k T (step : R) : neighbours S S' -> passes m -> (0 < T)%N -> (T <= k * m)%N ->
  0 < step -> 0 < mu -> step * (beta + mu) <= 3 / 2 ->
  (forall t, eta t = Num.min step (mu * t.+1%:R)^-1) ->
  norm (run S T - run S' T) <= k%:R * (Gam / (b%:R * mu * T%:R)).
Proof.
move=> adj once T0 Tkm step0 ridge small steps; apply: (B4 adj once T0 Tkm step0 ridge (lexx mu) _ steps).
have short : eta 1%N <= step by rewrite steps le_minl lexx.
have half : eta 1%N * mu <= 2^-1.
  apply: (@le_trans _ _ ((mu * 2)^-1 * mu)); first by rewrite ler_wpmul2r // steps le_minl lexx orbT.
  by rewrite invfM mulrAC mulVf ?mul1r // gt_eqF.
have sum0 : 0 <= beta + mu by exact: addr_ge0.
have first := le_trans (ler_wpmul2r sum0 short) small.
apply: (@le_by2 _ _ _ _ _ _ _ first half); real_fields R.
Qed.

End runs.
