(* Page A4, parts 2 and 3, in doubles: the rounding of a gradient, and what the acceptance test proves of the weights
   that pass it. *)

From Coq Require Import Reals Lra Lia Psatz.
From Flocq Require Import Core.
From Equipoise Require Import Doubles Rounding Clipping.

Open Scope R_scope.

(* Page A4, part 2. Slopes are functions of predictions with constant kappa = beta/B^2, computed to a relative 8 u (page A4
   says why for the logistic loss; a difference of doubles has u). A coordinate's sum goes through at most h roundings: 4096
   within a block and t over the blocks. *)
Section gradient.
Variables (n d h : nat) (row : nat -> nat -> R) (w : nat -> R) (slope : nat -> R -> R) (B kappa mu P : R).
Variables (prediction sum : nat -> evaluation) (s : nat -> R).
Hypotheses (n0 : (0 < n)%nat) (few : INR d <= most_weights) (low : INR h <= 10000).
Hypotheses (B0 : 0 <= B) (kappa0 : 0 <= kappa) (mu0 : 0 <= mu).
Hypothesis rows : forall i, (i < n)%nat -> norm d (row i) <= B.
Hypothesis steep : forall i a b, Rabs (slope i a - slope i b) <= kappa * Rabs (a - b).
Hypothesis predictions : forall i, (i < n)%nat -> evaluates (prediction i) d w (row i).
Hypothesis slopes : forall i, (i < n)%nat ->
  Rabs (s i - slope i (computed (prediction i))) <= 8 * u * Rabs (slope i (computed (prediction i))) + tiny.
Hypothesis sums : forall j, (j < d)%nat -> evaluates (sum j) n s (fun i => row i j) /\ (height (sum j) <= h)%nat.
Hypothesis mean_slope : B * (total (fun i => Rabs (slope i (dot d w (row i)))) n / INR n) <= P.

Definition true_gradient j := total (fun i => slope i (dot d w (row i)) * row i j) n / INR n + mu * w j.
Definition computed_gradient j := rounded (rounded (computed (sum j) / INR n) + rounded (mu * w j)).

(* What underflow may add. *)
Definition lost := (4 * INR d + 2 * B + 5 * kappa * B * INR d) * tiny.

Let c i := slope i (dot d w (row i)).
Let mean f := total f n / INR n.
Let N0 : 0 < INR n. Proof. now apply (lt_INR 0). Qed.
Let p := (1 + u) ^ h.
Let K := p * ((1 + u) * (1 + u)) - 1.
Let a j := mean (fun i => Rabs (s i) * Rabs (row i j)).
Let E j := mean (fun i => s i * row i j).

Let mean_le f g : (forall i, (i < n)%nat -> f i <= g i) -> mean f <= mean g.
Proof. intros le; apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, N0|now apply total_le]. Qed.

Let mean_plus f g : mean (fun i => f i + g i) = mean f + mean g.
Proof. unfold mean; rewrite total_plus; field; lra. Qed.

Let mean_scale k f : mean (fun i => k * f i) = k * mean f.
Proof. unfold mean; rewrite total_scale; field; lra. Qed.

Let mean_const k : mean (fun _ => k) = k.
Proof. unfold mean; rewrite total_const; field; lra. Qed.

Let mean_abs f : Rabs (mean f) <= mean (fun i => Rabs (f i)).
Proof.
unfold mean, Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ INR n)) by (apply Rlt_le, Rinv_0_lt_compat, N0).
apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, N0|apply total_abs].
Qed.

Let norm_mean (f : nat -> nat -> R) : norm d (fun j => mean (fun i => f i j)) <= mean (fun i => norm d (f i)).
Proof.
rewrite (norm_eq d _ (fun j => / INR n * total (fun i => f i j) n)) by (intros; unfold mean; field; lra).
rewrite norm_scale, Rabs_pos_eq by (apply Rlt_le, Rinv_0_lt_compat, N0); unfold mean, Rdiv; rewrite Rmult_comm.
apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, N0|apply norm_total].
Qed.

Let hu : 0 <= INR h * u <= 12 / 10000000000000.
Proof.
assert (h0 := pos_INR h); assert (us := u_small); split; [apply Rmult_le_pos; lra|].
apply Rle_trans with (10000 * (112 / 1000000000000000000)); [apply Rmult_le_compat; lra|lra].
Qed.

Let p_small : 1 <= p <= 1 + INR h * u + u / 100.
Proof.
split; [apply power_ge1|]; assert (u0 := u_gt0); assert (g := power_gamma h); fold p in g; set (x := INR h * u) in *; assert (x < 1) by lra.
specialize (g H); assert (x / (1 - x) <= x + 2 * (x * x)).
  apply (Rmult_le_reg_r (1 - x)); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra.
  assert (0 <= x * x) by (apply Rmult_le_pos; lra); assert (x * (x * x) <= / 2 * (x * x)) by (apply Rmult_le_compat_r; lra); lra.
assert (x * x <= u / 1000); [|lra]; unfold x; generalize (pos_INR h) u_small; intros.
replace (INR h * u * (INR h * u)) with (INR h * (INR h * u) * u) by ring; fold x.
assert (INR h * x <= 10000 * (12 / 10000000000000)) by (apply Rmult_le_compat; lra).
apply Rle_trans with (/ 1000 * u); [apply Rmult_le_compat_r|]; lra.
Qed.

Let K_small : 0 <= K <= (INR h + 21 / 10) * u.
Proof.
unfold K; assert (us := u_small); assert (ps := p_small); assert (hs := hu).
assert (u * u <= u * / 100) by (apply Rmult_le_compat_l; lra); assert (0 <= u * u) by (apply Rmult_le_pos; lra).
assert (2 * u + u * u <= 204 / 100 * u) by lra.
assert (p * (2 * u + u * u) <= (1 + / 1000000) * (204 / 100 * u)) by (apply Rmult_le_compat; lra).
split; [assert (0 <= p * (2 * u + u * u)) by (apply Rmult_le_pos; lra); lra|lra].
Qed.

Let a_ge0 j : 0 <= a j.
Proof.
apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat, N0].
apply total_ge0; intros; apply Rmult_le_pos; apply Rabs_pos.
Qed.

Let E_le j : Rabs (E j) <= a j.
Proof. refine (Rle_trans _ _ _ (mean_abs _) _); apply mean_le; intros; rewrite Rabs_mult; lra. Qed.

(* One coordinate, for the computed slopes. *)
Let coordinate j : (j < d)%nat ->
  Rabs (computed_gradient j - (E j + mu * w j)) <= K * a j + 3 * u * (mu * Rabs (w j)) + 4 * tiny.
Proof.
intros hj; destruct (sums j hj) as (ev & low_tree); assert (t0 := tiny_gt0); assert (us := u_small); assert (aj := a_ge0 j).
assert (Sum : Rabs (computed (sum j) / INR n - E j) <= (p - 1) * a j + p * tiny).
  generalize (sum_of_products_height (sum j)).
  rewrite (evaluates_exact _ _ _ _ ev), (evaluates_absolute _ _ _ _ ev), (evaluates_count _ _ _ _ ev).
  assert (ph := power_le _ _ low_tree); fold p in ph; intros le.
  assert (A0 : 0 <= total (fun i => Rabs (s i) * Rabs (row i j)) n)
    by (apply total_ge0; intros; apply Rmult_le_pos; apply Rabs_pos).
  replace (computed (sum j) / INR n - E j) with ((computed (sum j) - dot n s (fun i => row i j)) * / INR n)
    by (unfold E, mean, dot; field; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (/ INR n)) by (apply Rlt_le, Rinv_0_lt_compat, N0).
  replace ((p - 1) * a j + p * tiny) with
    (((p - 1) * total (fun i => Rabs (s i) * Rabs (row i j)) n + INR n * p * tiny) * / INR n)
    by (unfold a, mean; field; lra).
  apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, N0|].
  refine (Rle_trans _ _ _ le _); apply Rplus_le_compat; [apply Rmult_le_compat_r; lra|].
  apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; lra.
generalize (E_le j); intros Ej.
set (S := computed (sum j) / INR n) in *; set (m := mu * w j).
assert (em : mu * Rabs (w j) = Rabs m) by (unfold m; rewrite Rabs_mult, (Rabs_pos_eq mu) by lra; reflexivity).
rewrite em; assert (m0 := Rabs_pos m).
assert (S_le : Rabs S <= p * a j + p * tiny).
  replace S with ((S - E j) + E j) by ring; generalize (Rabs_triang (S - E j) (E j)); lra.
assert (q1 := rounding_error S); assert (r1 := rounding_error m).
assert (g1 := sum_error _ _ (rounded_double S) (rounded_double m)).
unfold computed_gradient; fold S; fold m.
set (q := rounded S) in *; set (r := rounded m) in *; set (G := rounded (q + r)) in *.
assert (q2 : Rabs (q - E j) <= (p * (1 + u) - 1) * a j + (p * (1 + u) + 1) * tiny).
  replace (q - E j) with ((q - S) + (S - E j)) by ring; generalize (Rabs_triang (q - S) (S - E j)).
  assert (u * Rabs S <= u * (p * a j + p * tiny)) by (apply Rmult_le_compat_l; lra); lra.
assert (q3 : Rabs q <= p * (1 + u) * a j + (p * (1 + u) + 1) * tiny).
  replace q with ((q - E j) + E j) by ring; generalize (Rabs_triang (q - E j) (E j)); lra.
assert (r3 : Rabs r <= (1 + u) * Rabs m + tiny).
  replace r with ((r - m) + m) by ring; generalize (Rabs_triang (r - m) m); lra.
assert (g2 : Rabs (G - (q + r)) <= u * (Rabs q + Rabs r)).
  refine (Rle_trans _ _ _ g1 _); apply Rmult_le_compat_l; [lra|apply Rabs_triang].
replace (G - (E j + m)) with ((G - (q + r)) + ((q - E j) + (r - m))) by ring.
generalize (Rabs_triang (G - (q + r)) ((q - E j) + (r - m))) (Rabs_triang (q - E j) (r - m)); intros h1 h2.
assert (u * (Rabs q + Rabs r) <= u * (p * (1 + u) * a j + (p * (1 + u) + 1) * tiny + ((1 + u) * Rabs m + tiny)))
  by (apply Rmult_le_compat_l; lra).
assert (T : (1 + u) * (p * (1 + u) + 2) * tiny <= 4 * tiny).
  assert (ps := p_small); assert (hs := hu); assert (p * (1 + u) <= 101 / 100 * (11 / 10))
    by (apply Rmult_le_compat; lra).
  apply Rmult_le_compat_r; [lra|]; apply Rle_trans with ((1 + u) * (7 / 2)); [apply Rmult_le_compat_l; lra|lra].
assert (um : 0 <= u * Rabs m) by (apply Rmult_le_pos; lra).
assert (uum : u * (u * Rabs m) <= 1 * (u * Rabs m)) by (apply Rmult_le_compat_r; lra).
unfold K; lra.
Qed.

Let W := norm d w.
Let x := INR d * u.
Let M := x / (1 - x) * (W * B) + INR d / (1 - x) * tiny.

Let prediction_error i : (i < n)%nat -> Rabs (computed (prediction i) - dot d w (row i)) <= M.
Proof.
intros hi; assert (xs := most_u d few); fold x in xs; assert (x1 : INR d * u < 1) by (fold x; lra).
refine (Rle_trans _ _ _ (computed_dot _ _ _ _ (predictions i hi) x1) _); fold x; apply Rplus_le_compat_r.
apply Rmult_le_compat_l.
  apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra].
apply Rmult_le_compat_l; [apply norm_ge0|now apply rows].
Qed.

Let M0 : 0 <= M.
Proof.
assert (xs := most_u d few); fold x in xs; assert (i0 : 0 < / (1 - x)) by (apply Rinv_0_lt_compat; lra).
unfold M, Rdiv; generalize (norm_ge0 d w) (pos_INR d) tiny_gt0 u_gt0; fold W; intros.
apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; lra.
Qed.

Let slope_error i : (i < n)%nat -> Rabs (s i - c i) <= 8 * u * Rabs (c i) + ((1 + 8 * u) * (kappa * M) + tiny).
Proof.
intros hi; assert (us := u_small); generalize (slopes i hi) (steep i (computed (prediction i)) (dot d w (row i))).
assert (km : kappa * Rabs (computed (prediction i) - dot d w (row i)) <= kappa * M)
  by (apply Rmult_le_compat_l; [lra|now apply prediction_error]).
fold (c i); set (z := slope i (computed (prediction i))); intros h1 h2.
assert (Rabs z <= Rabs (c i) + kappa * M).
  replace z with ((z - c i) + c i) by ring; generalize (Rabs_triang (z - c i) (c i)); lra.
replace (s i - c i) with ((s i - z) + (z - c i)) by ring; generalize (Rabs_triang (s i - z) (z - c i)).
assert (8 * u * Rabs z <= 8 * u * (Rabs (c i) + kappa * M)) by (apply Rmult_le_compat_l; lra); lra.
Qed.

Let Q := 8 * u * P + B * ((1 + 8 * u) * (kappa * M) + tiny).

Let mean_error : B * mean (fun i => Rabs (s i - c i)) <= Q.
Proof.
apply Rle_trans with (B * mean (fun i => 8 * u * Rabs (c i) + ((1 + 8 * u) * (kappa * M) + tiny))).
  apply Rmult_le_compat_l; [lra|]; apply mean_le; intros; now apply slope_error.
rewrite mean_plus, mean_scale, mean_const; unfold Q; generalize mean_slope u_small.
change (total (fun i => Rabs (slope i (dot d w (row i)))) n / INR n) with (mean (fun i => Rabs (c i))).
intros ms us; assert (8 * u * (B * mean (fun i => Rabs (c i))) <= 8 * u * P) by (apply Rmult_le_compat_l; lra); lra.
Qed.

Let mean_computed : B * mean (fun i => Rabs (s i)) <= P + Q.
Proof.
apply Rle_trans with (B * mean (fun i => Rabs (c i) + Rabs (s i - c i))).
  apply Rmult_le_compat_l; [lra|]; apply mean_le; intros i _.
  replace (s i) with (c i + (s i - c i)) at 1 by ring; apply Rabs_triang.
rewrite mean_plus, Rmult_plus_distr_l; apply Rplus_le_compat; [exact mean_slope|exact mean_error].
Qed.

Let norm_rows (f : nat -> R) : norm d (fun j => mean (fun i => f i * row i j)) <= B * mean (fun i => Rabs (f i)).
Proof.
refine (Rle_trans _ _ _ (norm_mean (fun i j => f i * row i j)) _); rewrite <- mean_scale; apply mean_le; intros i hi.
rewrite norm_scale, Rmult_comm; apply Rmult_le_compat_r; [apply Rabs_pos|now apply rows].
Qed.

Let norm_a : norm d a <= P + Q.
Proof.
refine (Rle_trans _ _ _ (norm_mean (fun i j => Rabs (s i) * Rabs (row i j))) _).
apply Rle_trans with (2 := mean_computed); rewrite <- mean_scale; apply mean_le; intros i hi.
rewrite norm_scale, Rabs_Rabsolu, Rmult_comm; apply Rmult_le_compat_r; [apply Rabs_pos|].
apply Rle_trans with (2 := rows i hi); right; unfold norm, dot; f_equal; apply total_eq; intros j _.
rewrite <- Rabs_mult; apply Rabs_pos_eq, Rle_0_sqr.
Qed.

Let P0 : 0 <= P.
Proof.
apply Rle_trans with (2 := mean_slope); apply Rmult_le_pos; [lra|].
apply Rmult_le_pos; [apply total_ge0; intros; apply Rabs_pos|apply Rlt_le, Rinv_0_lt_compat, N0].
Qed.

Let sum_of_parts : norm d (fun j => computed_gradient j - true_gradient j) <= K * (P + Q) + Q + 3 * u * (mu * W) + 4 * INR d * tiny.
Proof.
assert (us := u_small); assert (t0 := tiny_gt0); assert (Ks := K_small).
rewrite (norm_eq d _ (fun j => (computed_gradient j - (E j + mu * w j)) + mean (fun i => (s i - c i) * row i j))).
2: { intros j _; unfold true_gradient; fold c.
  replace (total (fun i => slope i (dot d w (row i)) * row i j) n / INR n) with (mean (fun i => c i * row i j)) by reflexivity.
  assert (e : E j = mean (fun i => c i * row i j) + mean (fun i => (s i - c i) * row i j)).
    rewrite <- mean_plus; unfold E, mean; f_equal; apply total_eq; intros; ring.
  rewrite e; ring. }
refine (Rle_trans _ _ _ (norm_triangle d (fun j => computed_gradient j - (E j + mu * w j))
  (fun j => mean (fun i => (s i - c i) * row i j))) _).
assert (second : norm d (fun j => mean (fun i => (s i - c i) * row i j)) <= Q)
  by exact (Rle_trans _ _ _ (norm_rows (fun i => s i - c i)) mean_error).
assert (first : norm d (fun j => computed_gradient j - (E j + mu * w j)) <= K * (P + Q) + 3 * u * (mu * W) + 4 * INR d * tiny).
  refine (Rle_trans _ _ _ (norm_le d _ (fun j => (K * a j + 3 * u * mu * Rabs (w j)) + 4 * tiny) _) _).
    intros j hj; refine (Rle_trans _ _ _ (coordinate j hj) _); lra.
  refine (Rle_trans _ _ _ (norm_triangle d (fun j => K * a j + 3 * u * mu * Rabs (w j)) (fun _ => 4 * tiny)) _).
  assert (cst := norm_const d (4 * tiny)); assert (four : 0 <= 4 * tiny) by lra; specialize (cst four).
  assert (ew : norm d (fun j => Rabs (w j)) = W).
    unfold W, norm, dot; f_equal; apply total_eq; intros j _; rewrite <- Rabs_mult; apply Rabs_pos_eq, Rle_0_sqr.
  assert (tri : norm d (fun j => K * a j + 3 * u * mu * Rabs (w j)) <= K * norm d a + 3 * u * mu * W).
    refine (Rle_trans _ _ _ (norm_triangle d (fun j => K * a j) (fun j => 3 * u * mu * Rabs (w j))) _).
    rewrite !norm_scale, ew, (Rabs_pos_eq K), (Rabs_pos_eq (3 * u * mu)) by (repeat apply Rmult_le_pos; lra); lra.
  assert (K * norm d a <= K * (P + Q)) by (apply Rmult_le_compat_l; [lra|apply norm_a]); lra.
lra.
Qed.

Theorem A4_gradient : norm d (fun j => computed_gradient j - true_gradient j) <=
  (INR h + 11) * u * P + (INR d + 1) * u * (kappa * (B * B)) * W + 3 * u * mu * W + lost.
Proof.
refine (Rle_trans _ _ _ sum_of_parts _); assert (us := u_small); assert (t0 := tiny_gt0); assert (Ks := K_small).
assert (xs := most_u d few); fold x in xs; assert (hs := hu); assert (d0 := pos_INR d); assert (W0 : 0 <= W) by apply norm_ge0.
assert (K1 : K <= / 100000000000) by lra.
assert (first : K * P + 8 * u * P * (1 + K) <= (INR h + 11) * u * P).
  replace (K * P + 8 * u * P * (1 + K)) with ((K + 8 * u * (1 + K)) * P) by ring; apply Rmult_le_compat_r; [exact P0|].
  assert (u * K <= u * / 100000000000) by (apply Rmult_le_compat_l; lra); lra.
assert (xx : x * x <= u / 100).
  unfold x; unfold most_weights in few; replace (INR d * u * (INR d * u)) with (INR d * (INR d * u) * u) by ring.
  fold x; assert (INR d * x <= 4000000 * (448 / 1000000000000)) by (apply Rmult_le_compat; lra).
  apply Rle_trans with (/ 100 * u); [apply Rmult_le_compat_r|]; lra.
assert (quotient : 0 <= x / (1 - x) <= x + u / 50).
  split; [apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]|].
  apply Rle_trans with (x + 2 * (x * x)); [|lra].
  apply (Rmult_le_reg_r (1 - x)); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra.
  assert (0 <= x * x) by (apply Rmult_le_pos; lra); assert (x * (x * x) <= / 2 * (x * x)) by (apply Rmult_le_compat_r; lra); lra.
assert (inverse : 0 < / (1 - x) <= 2).
  split; [apply Rinv_0_lt_compat; lra|rewrite <- (Rinv_inv 2) at 1; apply Rinv_le_contravar; lra].
set (k := (1 + 8 * u) * (1 + K)); assert (ks : 1 <= k <= 1 + / 10000000000).
  assert (0 <= u * K) by (apply Rmult_le_pos; lra); assert (u * K <= 1 * K) by (apply Rmult_le_compat_r; lra).
  assert (u * K <= u * / 100000000000) by (apply Rmult_le_compat_l; lra); unfold k; lra.
assert (grow : k * (x / (1 - x)) <= (INR d + 1) * u) by
  (replace ((INR d + 1) * u) with (x + u) by (unfold x; ring);
   apply Rle_trans with ((1 + / 10000000000) * (x + u / 50)); [apply Rmult_le_compat; lra|];
   assert (x / 10000000000 <= u / 1000) by (unfold x, most_weights in *; assert (INR d * u <= 4000000 * u) by (apply Rmult_le_compat_r; lra); lra);
   lra).
assert (under : k * (INR d / (1 - x)) <= 5 * INR d).
  unfold Rdiv; apply Rle_trans with (k * (INR d * 2)); [|assert (k * INR d <= 2 * INR d) by (apply Rmult_le_compat_r; lra); lra].
  apply Rmult_le_compat_l; [lra|]; apply Rmult_le_compat_l; lra.
assert (kB : 0 <= kappa * B) by (apply Rmult_le_pos; lra).
assert (second : (1 + K) * (B * ((1 + 8 * u) * (kappa * M))) <=
    (INR d + 1) * u * (kappa * (B * B)) * W + 5 * kappa * B * INR d * tiny).
  replace ((1 + K) * (B * ((1 + 8 * u) * (kappa * M)))) with (kappa * B * (k * M)) by (unfold k; ring).
  assert (k * M <= (INR d + 1) * u * (W * B) + 5 * INR d * tiny).
    unfold M; rewrite Rmult_plus_distr_l, <- !Rmult_assoc; apply Rplus_le_compat.
      apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_r; lra.
    apply Rmult_le_compat_r; lra.
  apply Rle_trans with (kappa * B * ((INR d + 1) * u * (W * B) + 5 * INR d * tiny)); [apply Rmult_le_compat_l; lra|right; ring].
assert (third : (1 + K) * (B * tiny) <= 2 * B * tiny).
  replace (2 * B * tiny) with (2 * (B * tiny)) by ring; apply Rmult_le_compat_r; [apply Rmult_le_pos|]; lra.
unfold lost; replace (K * (P + Q) + Q + 3 * u * (mu * W) + 4 * INR d * tiny) with
  ((K * P + 8 * u * P * (1 + K)) + (1 + K) * (B * ((1 + 8 * u) * (kappa * M))) + (1 + K) * (B * tiny) + 3 * u * mu * W
   + 4 * INR d * tiny) by (unfold Q; ring).
lra.
Qed.

End gradient.

(* Page A4, part 3: the budget. x is the point beside w at which p is a subgradient (w itself without a constraint, or w
   moved onto the sphere), X its distance from the minimiser, D that of w, N the true norm of the computed vector. *)
Definition billionth := / 1000000000.

Theorem A4_budget (mu tau g rho R L D X p N extra : R) :
  0 < mu -> mu <= L -> 0 <= g -> 0 <= rho -> 0 <= R -> 0 <= D -> extra <= tau / 1000000 ->
  N <= 9 / 10 * tau * (1 + billionth) ->
  p <= N + (g * (rho + L * R) + g * L * D + extra) + L * (g / 2) * (R + D) ->
  mu * X <= p -> D <= X + g / 2 * (R + D) ->
  20 * (g * (rho + mu * R + L * R)) * (1 - billionth) <= tau -> 100 * g * L <= mu * (1 + billionth) ->
  D <= 996 / 1000 * (tau / mu).
Proof.
unfold billionth; intros mu0 muL g0 rho0 R0 D0 small accepted hp hX hD floor conditioned.
assert (y : 100 * (g * L * D) <= (1 + / 1000000000) * (mu * D)).
  replace (100 * (g * L * D)) with (100 * g * L * D) by ring.
  replace ((1 + / 1000000000) * (mu * D)) with (mu * (1 + / 1000000000) * D) by ring; apply Rmult_le_compat_r; lra.
assert (z : g * mu * D <= g * L * D) by (apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; lra).
assert (mD : mu * D <= mu * X + g * mu * R / 2 + g * mu * D / 2).
  replace (mu * X + g * mu * R / 2 + g * mu * D / 2) with (mu * (X + g / 2 * (R + D))) by field.
  apply Rmult_le_compat_l; lra.
assert (a0 : 0 <= g * rho) by (apply Rmult_le_pos; lra).
assert (b0 : 0 <= g * L * R) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
assert (c0 : 0 <= g * mu * R) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
assert (E1 : g * (rho + mu * R + L * R) = g * rho + g * mu * R + g * L * R) by ring; rewrite E1 in floor.
replace (g * (rho + L * R)) with (g * rho + g * L * R) in hp by ring.
replace (L * (g / 2) * (R + D)) with (g * L * R / 2 + g * L * D / 2) in hp by field.
assert (goal : mu * D <= 996 / 1000 * tau) by lra.
apply (Rmult_le_reg_l mu); [lra|]; replace (mu * (996 / 1000 * (tau / mu))) with (996 / 1000 * tau) by (field; lra); lra.
Qed.

(* The test of the code: the computed norm against the rounded product of 0.9 and tau. Tolerances are at least 1e-130, so that
   the squares of what is tested do not vanish. *)
Theorem accepted_norm d (G : nat -> R) e tau : INR d <= most_weights -> evaluates e d G G ->
  1000000000000 * underflow <= tau -> rounded (sqrt (computed e)) <= rounded (rounded (9 / 10) * tau) ->
  norm d G <= 9 / 10 * tau * (1 + billionth).
Proof.
intros few squares large test; unfold billionth.
assert (us := u_small); assert (w0 := underflow_gt0); assert (w1 := underflow_le1); assert (t0 := tiny_gt0).
assert (tiny_le : tiny <= underflow / 10000000000000000).
  rewrite tiny_small; assert (bpow radix2 (-75) <= / 10000000000000000).
    apply Rle_trans with (bpow radix2 (-54)); [apply bpow_le; lia|simpl; lra].
  assert (0 < bpow radix2 (-75)) by apply bpow_gt_0.
  assert (0 <= underflow * underflow) by (apply Rmult_le_pos; lra).
  assert (underflow * underflow <= 1 * underflow) by (apply Rmult_le_compat_r; lra).
  apply Rle_trans with (/ 10000000000000000 * underflow); [apply Rmult_le_compat|]; lra.
assert (nine : 0 <= rounded (9 / 10) <= 9 / 10 + 2 * u).
  split; [apply rounded_ge0; lra|].
  generalize (rounding_error (9 / 10)); rewrite (Rabs_pos_eq (9 / 10)) by lra; unfold Rabs; destruct Rcase_abs; intros; lra.
set (q := rounded (9 / 10)) in *.
assert (limit : rounded (q * tau) <= q * tau * (1 + u) + tiny).
  generalize (rounding_error (q * tau)); rewrite (Rabs_pos_eq (q * tau)) by (apply Rmult_le_pos; lra).
  unfold Rabs; destruct Rcase_abs; intros; lra.
assert (q * tau <= (9 / 10 + 2 * u) * tau) by (apply Rmult_le_compat_r; lra).
assert (q * tau * (1 + u) <= (9 / 10 + 2 * u) * tau * (1 + u)) by (apply Rmult_le_compat_r; lra).
set (C := rounded (sqrt (computed e))) in *.
assert (C <= (9 / 10 + 4 * u) * tau + tiny).
  assert (u * u <= u * (1 / 10)) by (apply Rmult_le_compat_l; lra).
  assert ((9 / 10 + 2 * u) * (1 + u) <= 9 / 10 + 4 * u) by lra.
  assert ((9 / 10 + 2 * u) * (1 + u) * tau <= (9 / 10 + 4 * u) * tau) by (apply Rmult_le_compat_r; lra); lra.
assert (above := norm_from_above d G e few squares); fold C in above.
assert (C0 : 0 <= C) by apply computed_norm_ge0; assert (x := most_u d few).
assert (r : 0 <= (INR d / 2 + 2) * u <= 225 / 1000000000000) by lra.
set (r0 := (INR d / 2 + 2) * u) in *.
assert (C * (1 + r0) <= ((9 / 10 + 4 * u) * tau + tiny) * (1 + 225 / 1000000000000)) by (apply Rmult_le_compat; lra).
assert (u * tau <= tau / 1000000000000000) by
  (apply Rle_trans with (/ 1000000000000000 * tau); [apply Rmult_le_compat_r|]; lra).
lra.
Qed.

Lemma total_exchange (f : nat -> nat -> R) n d :
  total (fun j => total (fun i => f i j) n) d = total (fun i => total (fun j => f i j) d) n.
Proof.
induction d as [|d IH]; simpl; [now rewrite total_const, Rmult_0_r|rewrite IH; symmetry; apply total_plus].
Qed.

(* For one prediction a row and a ridge: slopes of convex losses grow, and so do gradients. *)
Lemma monotone_gradient n d row w w_S slope mu : (0 < n)%nat ->
  (forall i a b, 0 <= (slope i a - slope i b) * (a - b)) ->
  mu * dot d (fun j => w j - w_S j) (fun j => w j - w_S j) <=
    dot d (fun j => true_gradient n d row w slope mu j - true_gradient n d row w_S slope mu j) (fun j => w j - w_S j).
Proof.
intros n0 grows; assert (N0 : 0 < / INR n) by now apply Rinv_0_lt_compat, (lt_INR 0).
set (v := fun j => w j - w_S j).
assert (e : dot d (fun j => true_gradient n d row w slope mu j - true_gradient n d row w_S slope mu j) v =
    total (fun i => / INR n * ((slope i (dot d w (row i)) - slope i (dot d w_S (row i))) *
      (dot d w (row i) - dot d w_S (row i)))) n + mu * dot d v v).
  set (k := fun i => / INR n * (slope i (dot d w (row i)) - slope i (dot d w_S (row i)))).
  rewrite (total_eq (fun i => / INR n * _) (fun i => total (fun j => k i * row i j * v j) d)).
    rewrite <- total_exchange; unfold dot; rewrite <- total_scale, <- total_plus; apply total_eq; intros j hj.
    unfold true_gradient.
    rewrite (total_eq (fun i => k i * row i j * v j) (fun i => v j * / INR n * (slope i (dot d w (row i)) * row i j)
      + - (v j * / INR n) * (slope i (dot d w_S (row i)) * row i j))) by (intros; unfold k; ring).
    rewrite total_plus, !total_scale; unfold v, Rdiv, dot; ring.
  intros i _; unfold k, dot; rewrite (total_eq (fun j => _ * row i j * v j) (fun j =>
    (/ INR n * (slope i (dot d w (row i)) - slope i (dot d w_S (row i)))) * (w j * row i j) +
    - (/ INR n * (slope i (dot d w (row i)) - slope i (dot d w_S (row i)))) * (w_S j * row i j))).
    rewrite total_plus, !total_scale; unfold dot; ring.
  intros; unfold v, dot; ring.
rewrite e; assert (0 <= total (fun i => / INR n * ((slope i (dot d w (row i)) - slope i (dot d w_S (row i))) *
    (dot d w (row i) - dot d w_S (row i)))) n); [|lra].
apply total_ge0; intros i _; apply Rmult_le_pos; [lra|apply grows].
Qed.

(* Part 1, with the normal cone of a ball: x is w or w on the sphere, where nobody is further out, and so is the minimiser
   where its multiplier is not 0. *)
Lemma small_subgradient n d row x w_S slope mu lambda nu : (0 < n)%nat -> 0 < mu ->
  (forall i a b, 0 <= (slope i a - slope i b) * (a - b)) -> 0 <= lambda -> 0 <= nu ->
  lambda = 0 \/ norm d w_S <= norm d x -> nu = 0 \/ norm d x <= norm d w_S ->
  (forall j, (j < d)%nat -> true_gradient n d row w_S slope mu j + nu * w_S j = 0) ->
  mu * norm d (fun j => x j - w_S j) <= norm d (fun j => true_gradient n d row x slope mu j + lambda * x j).
Proof.
intros n0 mu0 grows l0 nu0 onx ons stationary.
set (v := fun j => x j - w_S j); set (D := norm d v); assert (D0 : 0 <= D) by apply norm_ge0.
set (p := fun j => true_gradient n d row x slope mu j + lambda * x j).
assert (inner : mu * (D * D) <= dot d p v).
  assert (h := monotone_gradient n d row x w_S slope mu n0 grows); fold v in h; unfold D; rewrite norm_square.
  assert (e : dot d p v = dot d (fun j => true_gradient n d row x slope mu j - true_gradient n d row w_S slope mu j) v
      + (lambda * (dot d x x - dot d x w_S) + nu * (dot d w_S w_S - dot d x w_S))).
    unfold dot; rewrite !Rmult_minus_distr_l, <- !total_scale.
    replace (total (fun i => lambda * (x i * x i)) d - total (fun i => lambda * (x i * w_S i)) d +
      (total (fun i => nu * (w_S i * w_S i)) d - total (fun i => nu * (x i * w_S i)) d)) with
      (total (fun i => lambda * (x i * x i) + - 1 * (lambda * (x i * w_S i)) + (nu * (w_S i * w_S i) + - 1 * (nu * (x i * w_S i)))) d)
      by (rewrite !total_plus, !total_scale; ring).
    rewrite <- total_plus; apply total_eq; intros j hj; unfold p, v.
    assert (s := stationary j hj); replace (true_gradient n d row w_S slope mu j) with (- (nu * w_S j)) by lra; ring.
  assert (cs := Rle_trans _ _ _ (Rle_abs _) (dot_norm d x w_S)).
  assert (X0 := norm_ge0 d x); assert (S0 := norm_ge0 d w_S); rewrite <- !norm_square in e.
  set (X := norm d x) in *; set (S := norm d w_S) in *.
  assert (0 <= lambda * (X * X - dot d x w_S)).
    destruct onx as [->|le]; [lra|]; apply Rmult_le_pos; [lra|].
    assert (X * S <= X * X) by (apply Rmult_le_compat_l; lra); lra.
  assert (0 <= nu * (S * S - dot d x w_S)).
    destruct ons as [->|le]; [lra|]; apply Rmult_le_pos; [lra|].
    assert (X * S <= S * S) by (apply Rmult_le_compat_r; lra); lra.
  lra.
assert (cs := Rle_trans _ _ _ (Rle_abs _) (dot_norm d p v)); fold D in cs.
destruct (Rle_lt_or_eq_dec 0 D D0) as [pos|zero].
  apply (Rmult_le_reg_r D); [exact pos|lra].
rewrite <- zero, Rmult_0_r; apply norm_ge0.
Qed.

(* Without a constraint. *)
Lemma small_gradient n d row w w_S slope mu : (0 < n)%nat -> 0 < mu ->
  (forall i a b, 0 <= (slope i a - slope i b) * (a - b)) ->
  (forall j, (j < d)%nat -> true_gradient n d row w_S slope mu j = 0) ->
  mu * norm d (fun j => w j - w_S j) <= norm d (true_gradient n d row w slope mu).
Proof.
intros n0 mu0 grows stationary.
rewrite (norm_eq d (true_gradient n d row w slope mu) (fun j => true_gradient n d row w slope mu j + 0 * w j)) by (intros; ring).
apply (small_subgradient n d row w w_S slope mu 0 0); try lra; auto; intros j hj; rewrite (stationary j hj); ring.
Qed.

(* Page A4, part 3, without a constraint: from the test to the distance. g is the library's `rounding_unit`, h the 4096 + t of
   it. The minimiser is where the gradient is 0. *)
Section accepted.
Variables (n d h : nat) (row : nat -> nat -> R) (w w_S : nat -> R) (slope : nat -> R -> R) (B kappa mu rho r tau : R).
Variables (prediction sum : nat -> evaluation) (s : nat -> R) (squares : evaluation).
Hypotheses (n0 : (0 < n)%nat) (few : INR d <= most_weights) (low : INR h <= 10000).
Hypotheses (B0 : 0 < B) (kappa0 : 0 <= kappa) (mu0 : 0 < mu) (rho0 : 0 <= rho) (R0 : 0 <= r).
Hypothesis rows : forall i, (i < n)%nat -> norm d (row i) <= B.
Hypothesis steep : forall i a b, Rabs (slope i a - slope i b) <= kappa * Rabs (a - b).
Hypothesis bounded : forall i m, Rabs m <= B * r -> B * Rabs (slope i m) <= rho.
Hypothesis predictions : forall i, (i < n)%nat -> evaluates (prediction i) d w (row i).
Hypothesis slopes : forall i, (i < n)%nat ->
  Rabs (s i - slope i (computed (prediction i))) <= 8 * u * Rabs (slope i (computed (prediction i))) + tiny.
Hypothesis sums : forall j, (j < d)%nat -> evaluates (sum j) n s (fun i => row i j) /\ (height (sum j) <= h)%nat.

Let gradient := true_gradient n d row w slope mu.
Let result := computed_gradient n w mu sum.
Let D := norm d (fun j => w j - w_S j).
Let beta := kappa * (B * B).
Let g := (INR h + INR d + 20) * u.

Hypothesis minimiser : norm d w_S <= r.
Hypothesis grows : forall i a b, 0 <= (slope i a - slope i b) * (a - b).
Hypothesis stationary : forall j, (j < d)%nat -> true_gradient n d row w_S slope mu j = 0.

Let part1 : mu * D <= norm d gradient.
Proof. exact (small_gradient n d row w w_S slope mu n0 mu0 grows stationary). Qed.

Let D0 : 0 <= D. Proof. apply norm_ge0. Qed.

Lemma reach : norm d w <= r + D.
Proof.
rewrite (norm_eq d w (fun j => w_S j + (w j - w_S j))) by (intros; ring).
refine (Rle_trans _ _ _ (norm_triangle d _ _) _); unfold D in *; lra.
Qed.

(* At norm r + D slopes are at most rho + beta D, times B. *)
Lemma further i : (i < n)%nat -> B * Rabs (slope i (dot d w (row i))) <= rho + beta * D.
Proof.
intros hi; set (m := dot d w (row i)).
assert (hm : Rabs m <= B * r + B * D).
  refine (Rle_trans _ _ _ (dot_norm d _ _) _); generalize (rows i hi) reach (norm_ge0 d w) (norm_ge0 d (row i)); intros.
  apply Rle_trans with ((r + D) * B); [apply Rmult_le_compat; lra|lra].
assert (BR : 0 <= B * r) by (apply Rmult_le_pos; lra).
assert (BD : 0 <= B * D) by (apply Rmult_le_pos; [lra|exact D0]).
assert (exists m', Rabs m' <= B * r /\ Rabs (m - m') <= B * D) as (m' & in_reach & near).
{ destruct (Rle_or_lt m (B * r)); [destruct (Rle_or_lt (- (B * r)) m)|].
  - exists m; split; [apply Rabs_le; lra|rewrite Rminus_diag_eq, Rabs_R0; lra].
  - exists (- (B * r)); split; [rewrite Rabs_Ropp, Rabs_pos_eq; lra|].
    revert hm; unfold Rabs; repeat destruct Rcase_abs; lra.
  - exists (B * r); split; [rewrite Rabs_pos_eq; lra|].
    revert hm; unfold Rabs; repeat destruct Rcase_abs; lra. }
assert (h1 := bounded i m' in_reach); assert (h2 := steep i m m').
assert (h3 : kappa * Rabs (m - m') <= kappa * (B * D)) by (apply Rmult_le_compat_l; lra).
assert (h4 : Rabs (slope i m) <= Rabs (slope i m') + kappa * (B * D)).
  replace (slope i m) with ((slope i m - slope i m') + slope i m') by ring.
  generalize (Rabs_triang (slope i m - slope i m') (slope i m')); lra.
apply Rle_trans with (B * (Rabs (slope i m') + kappa * (B * D))); [apply Rmult_le_compat_l; lra|].
unfold beta; lra.
Qed.

(* Inequality (1) of the page, with what underflow adds. *)
Theorem A4_inequality_1 : norm d (fun j => result j - gradient j) <=
  g * (rho + (beta + mu) * r) + g * (beta + mu) * D + lost d B kappa.
Proof.
assert (us := u_small); assert (d0 := pos_INR d); assert (h0 := pos_INR h); assert (W0 := norm_ge0 d w).
assert (N0 : 0 < INR n) by now apply (lt_INR 0).
assert (P : B * (total (fun i => Rabs (slope i (dot d w (row i)))) n / INR n) <= rho + beta * D).
  replace (rho + beta * D) with (total (fun _ => rho + beta * D) n / INR n) by (rewrite total_const; field; lra).
  unfold Rdiv; rewrite <- Rmult_assoc, <- total_scale; apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, N0|].
  apply total_le; intros; now apply further.
assert (beta0 : 0 <= beta) by (unfold beta; repeat apply Rmult_le_pos; lra).
refine (Rle_trans _ _ _ (A4_gradient n d h row w slope B kappa mu _ prediction sum s n0 few low (Rlt_le _ _ B0) kappa0
  (Rlt_le _ _ mu0) rows steep predictions slopes sums P) _); fold beta; set (W := norm d w) in *.
apply Rplus_le_compat_r.
assert (Rd := reach); fold W in Rd; assert (Dp := D0).
assert (e1 : 0 <= (INR d + 1) * u * beta) by (repeat apply Rmult_le_pos; lra).
assert (e2 : 0 <= 3 * u * mu) by (repeat apply Rmult_le_pos; lra).
assert (b1 : (INR d + 1) * u * beta * W <= (INR d + 1) * u * beta * (r + D)) by (apply Rmult_le_compat_l; lra).
assert (b2 : 3 * u * mu * W <= 3 * u * mu * (r + D)) by (apply Rmult_le_compat_l; lra).
assert (m1 : 0 <= u * rho) by (apply Rmult_le_pos; lra); assert (m2 : 0 <= u * (beta * r)) by (repeat apply Rmult_le_pos; lra).
assert (m3 : 0 <= u * (beta * D)) by (repeat apply Rmult_le_pos; lra).
assert (m4 : 0 <= u * (mu * r)) by (repeat apply Rmult_le_pos; lra).
assert (m5 : 0 <= u * (mu * D)) by (repeat apply Rmult_le_pos; lra).
assert (p1 : forall z, 0 <= z -> 0 <= INR d * z) by (intros; apply Rmult_le_pos; lra).
assert (p2 : forall z, 0 <= z -> 0 <= INR h * z) by (intros; apply Rmult_le_pos; lra).
generalize (p1 _ m1) (p1 _ m4) (p1 _ m5) (p2 _ m2) (p2 _ m4) (p2 _ m5); intros.
unfold g; lra.
Qed.

Hypothesis norm_of : evaluates squares d result result.
Hypothesis test : rounded (sqrt (computed squares)) <= rounded (rounded (9 / 10) * tau).
Hypothesis tolerance : 20 * (g * (rho + mu * r + (beta + mu) * r)) * (1 - billionth) <= tau.
Hypothesis conditioned : 100 * g * (beta + mu) <= mu * (1 + billionth).
Hypothesis no_underflow : 1000000000000 * underflow <= tau /\ lost d B kappa <= tau / 1000000.

Theorem A4_accepted : D <= 996 / 1000 * (tau / mu).
Proof.
assert (us := u_small); assert (d0 := pos_INR d); assert (h0 := pos_INR h); assert (Dp := D0).
assert (beta0 : 0 <= beta) by (unfold beta; repeat apply Rmult_le_pos; lra).
assert (g0 : 0 <= g) by (unfold g; apply Rmult_le_pos; lra).
assert (L0 : 0 <= (beta + mu) * (g / 2) * (r + D)) by (repeat apply Rmult_le_pos; lra).
assert (gR : 0 <= g / 2 * (r + D)) by (repeat apply Rmult_le_pos; lra).
refine (A4_budget mu tau g rho r (beta + mu) D D (norm d gradient) (norm d result) (lost d B kappa)
  mu0 _ g0 rho0 R0 Dp (proj2 no_underflow) _ _ part1 _ tolerance conditioned).
- lra.
- apply (accepted_norm d result squares tau few norm_of (proj1 no_underflow) test).
- assert (tri : norm d gradient <= norm d result + norm d (fun j => result j - gradient j)).
    rewrite (norm_eq d gradient (fun j => result j + (-1) * (result j - gradient j))) by (intros; ring).
    refine (Rle_trans _ _ _ (norm_triangle d _ _) _); rewrite norm_scale, Rabs_left by lra; lra.
  generalize A4_inequality_1; lra.
- lra.
Qed.

End accepted.

(* Page L3: the test for losses with corners. q and e are the true residual's norm and the true mean of gaps, Q the computed
   norm, within a relative 1e-9 and f of q (`norm_from_above` and the error of the sums), and E the computed mean, within a
   relative 1e-9 and h of e. Then every rounding of the code's formula. *)
Section corners.
Variables (mu tau q e f h Q E : R).
Hypotheses (mu0 : 0 < mu) (q0 : 0 <= q) (e0 : 0 <= e) (f0 : 0 <= f) (h0 : 0 <= h) (Q0 : 0 <= Q) (E0 : 0 <= E).
Let c := 1 + 3 / 10 * billionth.
Hypothesis norm_close : q <= Q * c + f.
Hypothesis mean_close : e <= E * c + h.
Hypothesis large : 1000000000000 * underflow <= tau.

(* math.sqrt(residual * residual + 4 * mu * gap), and the half of the sum; 4 * mu and the half are exact. *)
Definition corner_root := rounded (sqrt (rounded (rounded (Q * Q) + rounded (4 * mu * E)))).
Definition corner_reached := rounded ((Q + corner_root) / 2).

Hypothesis test : corner_reached <= tau / 2.
Hypothesis tolerance : (2 * f + 2 * sqrt (mu * h)) * (1 - billionth) <= tau.

Let rounded_below x : 0 <= x -> x * (1 - u) - tiny <= rounded x.
Proof.
intros x0; generalize (rounding_error x); rewrite (Rabs_pos_eq x x0); unfold Rabs; destruct Rcase_abs; intros; lra.
Qed.

Let tiny_le : tiny <= underflow * underflow * / 10000000000000000.
Proof.
rewrite tiny_small; assert (bpow radix2 (-75) <= / 10000000000000000).
  apply Rle_trans with (bpow radix2 (-54)); [apply bpow_le; lia|simpl; lra].
assert (w0 := underflow_gt0); assert (0 <= underflow * underflow) by (apply Rmult_le_pos; lra).
rewrite Rmult_comm; apply Rmult_le_compat_l; lra.
Qed.

Let S := sqrt (Q * Q + 4 * (mu * E)).

Let parts : 0 <= Q * Q /\ 0 <= 4 * mu * E.
Proof. split; repeat apply Rmult_le_pos; lra. Qed.

(* The computed root is nearly as large as the true one. *)
Let root_below : S <= corner_root * (1 + 6 * u) + underflow.
Proof.
destruct parts as (QQ & ME); assert (us := u_small); assert (w0 := underflow_gt0); assert (t0 := tiny_gt0).
set (a := rounded (Q * Q)); set (b := rounded (4 * mu * E)); set (s := rounded (a + b)).
assert (a0 : 0 <= a) by (apply rounded_ge0; lra); assert (b0 : 0 <= b) by (apply rounded_ge0; lra).
assert (ha := rounded_below _ QQ); fold a in ha; assert (hb := rounded_below _ ME); fold b in hb.
assert (hs : (a + b) * (1 - u) <= s).
  generalize (sum_error a b (rounded_double _) (rounded_double _)); rewrite (Rabs_pos_eq (a + b)) by lra; fold s.
  unfold Rabs; destruct Rcase_abs; intros; lra.
assert (s0 : 0 <= s) by (apply rounded_ge0; lra).
set (total := Q * Q + 4 * (mu * E)); assert (T0 : 0 <= total) by (unfold total; lra).
assert (hT : total * (1 - u) * (1 - u) <= s + 4 * tiny).
  assert (h1 : total * (1 - u) - 2 * tiny <= a + b) by (unfold total; lra).
  assert (h2 : (total * (1 - u) - 2 * tiny) * (1 - u) <= (a + b) * (1 - u)) by (apply Rmult_le_compat_r; lra).
  assert (0 <= u * tiny) by (apply Rmult_le_pos; lra); lra.
set (r := sqrt s); assert (r0 : 0 <= r) by apply sqrt_pos; assert (rr : r * r = s) by (apply sqrt_sqrt; lra).
assert (root := root_error s (rounded_double _)); fold r in root.
assert (hr : r * (1 - u) <= corner_root).
  unfold corner_root; fold a b s r; revert root; unfold Rabs; destruct Rcase_abs; intros; lra.
assert (uu : 0 <= u * u) by (apply Rmult_le_pos; lra).
assert (uu2 : u * u <= u * / 1000) by (apply Rmult_le_compat_l; lra).
assert (S0 : 0 <= S) by apply sqrt_pos; assert (SS : S * S = total) by (apply sqrt_sqrt; exact T0).
assert (first : S * (1 - u) <= r + underflow / 2).
  apply Rsqr_incr_0; unfold Rsqr; [|apply Rmult_le_pos; lra|lra].
  assert (0 <= r * underflow) by (apply Rmult_le_pos; lra).
  assert (0 <= underflow * underflow) by (apply Rmult_le_pos; lra).
  replace (S * (1 - u) * (S * (1 - u))) with (S * S * (1 - u) * (1 - u)) by ring; rewrite SS.
  assert (tl := tiny_le); lra.
assert (C0 : 0 <= corner_root) by (apply rounded_ge0, sqrt_pos).
assert (second : r <= corner_root * (1 + 2 * u)).
  apply Rle_trans with (r * (1 - u) * (1 + 2 * u)); [|apply Rmult_le_compat_r; lra].
  assert (0 <= r * (u - 2 * (u * u))) by (apply Rmult_le_pos; lra); lra.
assert (third : S <= (r + underflow / 2) * (1 + 2 * u)).
  apply Rle_trans with (S * (1 - u) * (1 + 2 * u)); [|apply Rmult_le_compat_r; lra].
  assert (0 <= S * (u - 2 * (u * u))) by (apply Rmult_le_pos; lra); lra.
assert (fourth : (r + underflow / 2) * (1 + 2 * u) <= (corner_root * (1 + 2 * u) + underflow / 2) * (1 + 2 * u))
  by (apply Rmult_le_compat_r; lra).
assert (fifth : (1 + 2 * u) * (1 + 2 * u) * corner_root <= (1 + 6 * u) * corner_root) by (apply Rmult_le_compat_r; lra).
assert (u * underflow <= / 4 * underflow) by (apply Rmult_le_compat_r; lra).
lra.
Qed.

Let sum_below : (Q + corner_root) / 2 * (1 - u) - tiny <= corner_reached.
Proof.
apply rounded_below; generalize (rounded_ge0 _ (sqrt_pos (rounded (rounded (Q * Q) + rounded (4 * mu * E))))).
fold corner_root; lra.
Qed.

(* What the computed formula hides is a relative 1e-9 of half the tolerance at most. *)
Let formula : (Q + S) / 2 <= tau / 2 * (1 + / 100 * billionth).
Proof.
assert (us := u_small); assert (w0 := underflow_gt0); assert (t0 := tiny_gt0); assert (tl := tiny_le).
assert (C0 : 0 <= corner_root) by (apply rounded_ge0, sqrt_pos); assert (rb := root_below); assert (sb := sum_below).
assert (w1 := underflow_le1); assert (underflow * underflow <= 1 * underflow) by (apply Rmult_le_compat_r; lra).
set (X := (Q + corner_root) / 2) in *; assert (X0 : 0 <= X) by (unfold X; lra).
assert (h1 : X * (1 - u) <= tau / 2 + underflow) by lra.
assert (h2 : X <= (tau / 2 + underflow) * (1 + 2 * u)).
  apply Rle_trans with (X * (1 - u) * (1 + 2 * u)); [|apply Rmult_le_compat_r; lra].
  assert (u * u <= u * / 1000) by (apply Rmult_le_compat_l; lra).
  assert (0 <= X * (u - 2 * (u * u))) by (apply Rmult_le_pos; lra); lra.
assert (uC : u * corner_root <= u * (2 * X)) by (apply Rmult_le_compat_l; [lra|unfold X; lra]).
assert (h3 : (Q + S) / 2 <= X * (1 + 6 * u) + underflow / 2) by (unfold X in *; lra).
assert (h4 : X * (1 + 6 * u) <= (tau / 2 + underflow) * (1 + 2 * u) * (1 + 6 * u)) by (apply Rmult_le_compat_r; lra).
assert (h5 : (1 + 2 * u) * (1 + 6 * u) <= 1 + 9 * u).
  assert (u * u <= u * / 1000) by (apply Rmult_le_compat_l; lra); lra.
assert (h6 : (tau / 2 + underflow) * ((1 + 2 * u) * (1 + 6 * u)) <= (tau / 2 + underflow) * (1 + 9 * u))
  by (apply Rmult_le_compat_l; lra).
assert (h7 : (tau / 2 + underflow) * (1 + 9 * u) <= (tau / 2 + underflow) * (1 + / 1000 * billionth)).
  unfold billionth; apply Rmult_le_compat_l; lra.
unfold billionth in *; lra.
Qed.

(* The distance, by inequality (1) of the page (`L3` in Approximate.v). *)
Theorem L3_accepted D : mu * D <= (q + sqrt (q * q + 4 * (mu * e))) / 2 -> D <= tau / mu * (1 + billionth).
Proof.
intros one; assert (w0 := underflow_gt0); assert (form := formula); unfold billionth in *.
assert (S0 : 0 <= S) by apply sqrt_pos; assert (SS : S * S = Q * Q + 4 * (mu * E)).
  apply sqrt_sqrt; destruct parts; lra.
set (t := sqrt (mu * h)) in *; assert (t0 : 0 <= t) by apply sqrt_pos.
assert (mh : 0 <= mu * h) by (apply Rmult_le_pos; lra).
assert (tt : t * t = mu * h) by (apply sqrt_sqrt; exact mh).
assert (c1 : 1 <= c <= 2) by (unfold c, billionth; lra).
assert (QS : Q <= S).
  apply Rsqr_incr_0; unfold Rsqr; [rewrite SS; destruct parts; lra|lra|lra].
assert (root : sqrt (q * q + 4 * (mu * e)) <= S * c + f + 2 * t).
  assert (0 <= S * c) by (apply Rmult_le_pos; lra).
  rewrite <- (sqrt_square (S * c + f + 2 * t)) by lra; apply sqrt_le_1_alt.
  assert (k1 : q * q <= (Q * c + f) * (Q * c + f)) by (apply Rmult_le_compat; lra).
  assert (k2 : mu * e <= mu * (E * c + h)) by (apply Rmult_le_compat_l; lra).
  assert (k3 : c * (mu * E) <= c * (c * (mu * E))).
    rewrite <- (Rmult_1_l (c * (mu * E))) at 1; apply Rmult_le_compat_r; [|lra].
    repeat apply Rmult_le_pos; lra.
  assert (k4 : c * f * Q <= c * f * S) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|lra]).
  assert (k5 : 0 <= t * (S * c + f)) by (apply Rmult_le_pos; lra).
  assert (k6 : S * c * (S * c) = c * c * (Q * Q + 4 * (mu * E))) by (rewrite <- SS; ring).
  lra.
assert (muD : mu * D <= tau * (1 + / 1000000000)).
  assert (k : (Q + S) / 2 * c <= tau / 2 * (1 + / 100 * / 1000000000) * c) by (apply Rmult_le_compat_r; lra).
  assert (tau0 : 0 <= tau) by lra; unfold c, billionth in *; lra.
apply (Rmult_le_reg_l mu); [lra|]; replace (mu * (tau / mu * (1 + / 1000000000))) with (tau * (1 + / 1000000000)) by (field; lra); lra.
Qed.

End corners.
