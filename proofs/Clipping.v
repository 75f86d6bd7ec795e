(* Page M4 in doubles: how long a clipped row may be. *)

From Coq Require Import Reals Lra Lia Psatz.
From Flocq Require Import Core.
From Equipoise Require Import Doubles Rounding.

Open Scope R_scope.

Lemma triangle_bound a b x y : Rabs a <= x -> Rabs b <= y -> Rabs (a + b) <= x + y.
Proof. generalize (Rabs_triang a b); lra. Qed.

Lemma INR_tiny d : INR d <= most_weights -> 0 <= INR d * tiny <= underflow.
Proof.
unfold most_weights; intros le; assert (d0 := pos_INR d); assert (t0 := tiny_gt0).
split; [nra|]; rewrite tiny_small; assert (w0 := underflow_gt0); assert (w1 := underflow_le1).
assert (b : bpow radix2 (-75) <= / 10000000000000000).
  apply Rle_trans with (bpow radix2 (-54)); [apply bpow_le; lia|simpl; lra].
assert (b0 : 0 < bpow radix2 (-75)) by apply bpow_gt_0.
assert (INR d * bpow radix2 (-75) <= 1) by nra; assert (0 <= INR d * bpow radix2 (-75)) by nra.
assert (underflow * underflow <= underflow) by nra.
replace (INR d * (bpow radix2 (-75) * (underflow * underflow))) with
  (INR d * bpow radix2 (-75) * (underflow * underflow)) by ring.
apply Rle_trans with (1 * (underflow * underflow)); [apply Rmult_le_compat_r; nra|lra].
Qed.

(* Page M4, "Clipped rows": B0 is the declared row norm, the computed norm exceeds it, and every entry is multiplied by
   the rounded quotient. The library's row norms lie between 1e-100 and 1e100; a finite sum of squares has a root below
   2^513. *)
Section clipped.
Variables (d : nat) (v : nat -> R) (e : evaluation) (B0 : R).
Hypotheses (few : INR d <= most_weights) (squares : evaluates e d v v) (large : bpow radix2 (-340) <= B0).
Let length := rounded (sqrt (computed e)).

Let B0_gt0 : 0 < B0.
Proof. apply Rlt_le_trans with (2 := large); apply bpow_gt_0. Qed.

Let lost : 8 * underflow <= B0 * u / 100.
Proof.
assert (h : 8 * underflow <= bpow radix2 (-340) * u / 100).
  unfold u, underflow, Rdiv; rewrite <- bpow_plus.
  apply Rle_trans with (bpow radix2 (-497)).
    replace (-497)%Z with (-500 + 1 + 1 + 1)%Z by reflexivity; rewrite !bpow_plus_1; simpl IZR; generalize (bpow_gt_0 radix2 (-500)); lra.
  apply Rle_trans with (bpow radix2 (-393 + -7)); [apply bpow_le; lia|].
  rewrite bpow_plus; apply Rmult_le_compat_l; [apply bpow_ge_0|simpl; lra].
generalize u_gt0; nra.
Qed.

Theorem M4_kept : length <= B0 -> norm d v <= B0 * (1 + (INR d / 2 + 3) * u).
Proof.
intros short; generalize (norm_from_above d v e few squares) (pos_INR d) u_gt0 underflow_gt0; fold length; intros le d0 u0 w0.
assert (0 <= (INR d / 2 + 2) * u) by nra.
assert (length * (1 + (INR d / 2 + 2) * u) <= B0 * (1 + (INR d / 2 + 2) * u)) by (apply Rmult_le_compat_r; lra).
nra.
Qed.

Theorem M4_clipped : B0 < length -> length <= bpow radix2 600 ->
  norm d (fun j => rounded (v j * rounded (B0 / length))) <= B0 * (1 + (INR d / 2 + 5) * u).
Proof.
intros long finite; assert (above := norm_from_above d v e few squares); fold length in above.
generalize (pos_INR d) u_gt0 u_small underflow_gt0 underflow_le1 (most_u d few); intros d0 u0 us w0 w1 x.
assert (q0 : 0 < / length) by (apply Rinv_0_lt_compat; lra).
assert (normal : Rabs (rounded (B0 / length) - B0 / length) <= u * Rabs (B0 / length)).
  apply rounding_error_normal; rewrite Rabs_pos_eq by (unfold Rdiv; nra).
  apply Rle_trans with (bpow radix2 (-340) * / bpow radix2 600).
    rewrite <- bpow_opp, <- bpow_plus; apply bpow_le; lia.
  apply Rmult_le_compat; [apply bpow_ge_0|apply Rlt_le, Rinv_0_lt_compat, bpow_gt_0|exact large|].
  apply Rinv_le_contravar; lra.
rewrite (Rabs_pos_eq (B0 / length)) in normal by (unfold Rdiv; nra).
assert (f0 : 0 <= rounded (B0 / length)) by (apply rounded_ge0; unfold Rdiv; nra).
set (f := rounded (B0 / length)) in *.
assert (fle : f <= B0 / length * (1 + u)) by (revert normal; unfold Rabs; destruct Rcase_abs; intros; lra).
assert (N0 := norm_ge0 d v); set (N := norm d v) in *; set (r := (INR d / 2 + 2) * u) in *.
assert (entries : norm d (fun j => rounded (v j * f)) <= f * (1 + u) * N + INR d * tiny).
  refine (Rle_trans _ _ _ (norm_le d _ (fun j => Rabs (f * (1 + u) * v j) + tiny) _) _).
    intros j _; generalize (rounding_error (v j * f)); intros re.
    replace (rounded (v j * f)) with ((rounded (v j * f) - v j * f) + v j * f) by ring.
    refine (Rle_trans _ _ _ (triangle_bound _ _ _ _ re (Rle_refl _)) _).
    rewrite !Rabs_mult, (Rabs_pos_eq f), (Rabs_pos_eq (1 + u)) by lra; lra.
  refine (Rle_trans _ _ _ (norm_triangle d _ (fun _ => tiny)) _); apply Rplus_le_compat.
    rewrite (norm_eq d _ (fun j => Rabs (f * (1 + u)) * Rabs (v j))) by (intros; apply Rabs_mult).
    rewrite norm_scale, Rabs_Rabsolu, (Rabs_pos_eq (f * (1 + u))) by nra; apply Rmult_le_compat_l; [nra|].
    right; unfold N, norm, dot; f_equal; apply total_eq; intros j _; rewrite <- Rabs_mult; apply Rabs_pos_eq, Rle_0_sqr.
  apply norm_const, Rlt_le, tiny_gt0.
assert (dt := INR_tiny d few).
assert (fN : f * N <= (1 + u) * (B0 * (1 + r) + underflow)).
  apply Rle_trans with (B0 / length * (1 + u) * (length * (1 + r) + underflow)).
    apply Rmult_le_compat; lra.
  replace (B0 / length * (1 + u) * (length * (1 + r) + underflow)) with
    ((1 + u) * (B0 * (1 + r) + B0 / length * underflow)) by (field; lra).
  apply Rmult_le_compat_l; [lra|]; apply Rplus_le_compat_l.
  assert (B0 / length <= 1).
    apply (Rmult_le_reg_r length); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
  nra.
assert (r0 : 0 <= r <= / 100) by (unfold r; lra).
assert (f * (1 + u) * N <= (1 + u) * ((1 + u) * (B0 * (1 + r) + underflow))).
  replace (f * (1 + u) * N) with ((1 + u) * (f * N)) by ring; apply Rmult_le_compat_l; lra.
assert (0 <= u * u) by (apply Rmult_le_pos; lra); assert (uu : u * u <= u * / 1000) by (apply Rmult_le_compat_l; lra).
assert (ur : u * r <= u * / 100) by (apply Rmult_le_compat_l; lra).
assert (uur : u * u * r <= u * u * / 100) by (apply Rmult_le_compat_l; lra).
assert ((1 + u) * (1 + u) * (1 + r) <= 1 + r + 2 * u + u / 10) by lra.
assert ((1 + u) * (1 + u) * (1 + r) * B0 <= (1 + r + 2 * u + u / 10) * B0) by (apply Rmult_le_compat_r; lra).
assert ((1 + u) * (1 + u) * underflow <= 2 * underflow) by (apply Rmult_le_compat_r; nra).
apply Rle_trans with (B0 * (1 + r + 2 * u + u / 10) + 3 * underflow); [lra|].
replace (B0 * (1 + (INR d / 2 + 5) * u)) with (B0 * (1 + r + 3 * u)) by (unfold r; ring).
nra.
Qed.

End clipped.

(* Page M4, "Certificates across machines": b is the bound for rows of the length above, b0 that for rows as declared, c
   what a machine computes for b0 (1 + 1e-9), s what a certificate records. That bounds grow at most like the third power
   of a row's length, and lose at most 1e-14 in their evaluation, is on the page. *)
Section sum.
Variables (d : nat) (b b0 c s : R).
Let eta := (INR d / 2 + 5) * u.
Hypotheses (few : INR d <= most_weights) (b0_ge0 : 0 <= b0).
Hypothesis grows : b <= b0 * ((1 + eta) * (1 + eta) * (1 + eta)).
Hypothesis evaluated : b0 * ((1 + / 1000000000) * (1 - / 100000000000000)) <= c.

Let rows : (1 + eta) * (1 + eta) * (1 + eta) <= 1 + 7 / 10000000000.
Proof.
assert (eta0 : 0 <= eta <= 23 / 100000000000).
  unfold eta; rewrite u_value; unfold most_weights in few; generalize (pos_INR d); intros; split; [apply Rmult_le_pos; lra|lra].
set (e := eta) in *; clearbody e.
assert (e * e <= 23 / 100000000000 * (23 / 100000000000)) by (apply Rmult_le_compat; lra).
assert (e * e * e <= 23 / 100000000000 * (23 / 100000000000) * (23 / 100000000000)).
  apply Rmult_le_compat; try lra; apply Rmult_le_pos; lra.
lra.
Qed.

(* The double next to 1 + 1e-12, and the rounding of the product with it, are within 1.1e-12. *)
Theorem M4_sum : c <= s * (1 + 11 / 10000000000000) -> b * (1 + 29 / 100000000000) <= s.
Proof.
intros agreed; assert (r := rows).
assert (b <= b0 * (1 + 7 / 10000000000)).
  apply Rle_trans with (1 := grows); apply Rmult_le_compat_l; [exact b0_ge0|exact r].
lra.
Qed.

End sum.
