(* Page A4, part 3, with the weights in a ball: from the test of the code to the distance, over Coq's own real numbers. *)

From Coq Require Import Reals Lra Lia List Permutation ZArith.
From Flocq Require Import Core.
From Equipoise Require Import Doubles Rounding Clipping Acceptance.
Open Scope R_scope.

(* Gradients do not change faster than beta + mu. *)
Lemma gradient_lipschitz n d row x w slope B kappa mu : (0 < n)%nat -> 0 <= B -> 0 <= kappa -> 0 <= mu ->
  (forall i, (i < n)%nat -> norm d (row i) <= B) ->
  (forall i a b, Rabs (slope i a - slope i b) <= kappa * Rabs (a - b)) ->
  norm d (fun j => true_gradient n d row x slope mu j - true_gradient n d row w slope mu j) <=
    (kappa * (B * B) + mu) * norm d (fun j => x j - w j).
Proof.
intros n0 B0 k0 mu0 rows steep; assert (N0 : 0 < / INR n) by now apply Rinv_0_lt_compat, (lt_INR 0).
set (v := fun j => x j - w j); set (D := norm d v); assert (D0 : 0 <= D) by apply norm_ge0.
set (c := fun i => / INR n * (slope i (dot d x (row i)) - slope i (dot d w (row i)))).
rewrite (norm_eq d _ (fun j => total (fun i => c i * row i j) n + mu * v j)).
2: { intros j hj; unfold true_gradient, v.
  rewrite (total_eq (fun i => c i * row i j) (fun i => / INR n * (slope i (dot d x (row i)) * row i j) +
    - / INR n * (slope i (dot d w (row i)) * row i j))) by (intros; unfold c; ring).
  rewrite total_plus, !total_scale; unfold Rdiv; ring. }
refine (Rle_trans _ _ _ (norm_triangle d _ _) _); rewrite norm_scale, (Rabs_pos_eq mu) by lra; fold D.
assert (norm d (fun j => total (fun i => c i * row i j) n) <= kappa * (B * B) * D); [|lra].
refine (Rle_trans _ _ _ (norm_total d (fun i j => c i * row i j) n) _).
apply Rle_trans with (total (fun _ => / INR n * (kappa * (B * B) * D)) n).
  apply total_le; intros i hi; rewrite norm_scale; unfold c; rewrite Rabs_mult, (Rabs_pos_eq (/ INR n)) by lra.
  rewrite Rmult_assoc; apply Rmult_le_compat_l; [lra|].
  assert (h1 := steep i (dot d x (row i)) (dot d w (row i))); assert (h2 := rows i hi); assert (R0 := norm_ge0 d (row i)).
  assert (h3 : Rabs (dot d x (row i) - dot d w (row i)) <= D * B).
    replace (dot d x (row i) - dot d w (row i)) with (dot d v (row i)).
      refine (Rle_trans _ _ _ (dot_norm d v (row i)) _); fold D; apply Rmult_le_compat_l; lra.
    unfold dot; rewrite (total_eq (fun j => v j * row i j) (fun j => x j * row i j + - 1 * (w j * row i j))) by (intros; unfold v; ring).
    rewrite total_plus, total_scale; ring.
  apply Rle_trans with (kappa * (D * B) * B); [|right; ring].
  apply Rmult_le_compat; [apply Rabs_pos|lra| |lra].
  refine (Rle_trans _ _ _ h1 _); apply Rmult_le_compat_l; lra.
rewrite total_const; right; field; apply Rgt_not_eq, (lt_INR 0); exact n0.
Qed.

(* The roundings of gradient - min(0, gradient . outward) outward, outward the weights over their computed norm C. *)
Definition balanced (G : nat -> R) lambda C (w : nat -> R) j := rounded (G j + rounded (lambda * rounded (w j / C))).

Lemma balanced_error d G lambda C w : 0 <= lambda -> 0 < C -> (forall j, double (G j)) ->
  norm d (fun j => balanced G lambda C w j - (G j + lambda / C * w j)) <=
    u * norm d G + 4 * u * (lambda / C * norm d w) + INR d * (2 * (lambda + 1) * tiny).
Proof.
intros l0 C0 doubles; assert (us := u_small); assert (t0 := tiny_gt0).
assert (q0 : 0 <= lambda / C) by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat, C0]).
apply Rle_trans with (norm d (fun j => (u * Rabs (G j) + 4 * u * (lambda / C * Rabs (w j))) + 2 * (lambda + 1) * tiny)).
  apply norm_le; intros j _; unfold balanced.
  set (a := w j / C); set (o := rounded a); set (b := lambda * o); set (m := rounded b).
  assert (ho := rounding_error a); fold o in ho; assert (hm := rounding_error b); fold m in hm.
  assert (hs := sum_error (G j) m (doubles j) (rounded_double b)).
  assert (A0 := Rabs_pos a); assert (e1 : lambda / C * Rabs (w j) = lambda * Rabs a).
    unfold a, Rdiv; rewrite Rabs_mult, (Rabs_pos_eq (/ C)) by (apply Rlt_le, Rinv_0_lt_compat, C0); ring.
  rewrite e1; replace (lambda / C * w j) with (lambda * a) by (unfold a; field; lra).
  set (y := lambda * Rabs a); assert (y0 : 0 <= y) by (apply Rmult_le_pos; lra).
  assert (lt0 : 0 <= lambda * tiny) by (apply Rmult_le_pos; lra).
  assert (uy : 0 <= u * y <= y / 1000) by (split; [apply Rmult_le_pos; lra|assert (u * y <= / 1000 * y) by (apply Rmult_le_compat_r; lra); lra]).
  assert (ult : 0 <= u * (lambda * tiny) <= lambda * tiny / 1000) by (split; [apply Rmult_le_pos; lra|assert (u * (lambda * tiny) <= / 1000 * (lambda * tiny)) by (apply Rmult_le_compat_r; lra); lra]).
  assert (ut : 0 <= u * tiny <= tiny / 1000) by (split; [apply Rmult_le_pos; lra|assert (u * tiny <= / 1000 * tiny) by (apply Rmult_le_compat_r; lra); lra]).
  assert (uuy : 0 <= u * (u * y) <= u * y / 1000) by (split; [apply Rmult_le_pos; lra|assert (u * (u * y) <= / 1000 * (u * y)) by (apply Rmult_le_compat_r; lra); lra]).
  assert (hb : Rabs (b - lambda * a) <= u * y + lambda * tiny).
    unfold b; replace (lambda * o - lambda * a) with (lambda * (o - a)) by ring; rewrite Rabs_mult, (Rabs_pos_eq lambda l0).
    apply Rle_trans with (lambda * (u * Rabs a + tiny)); [apply Rmult_le_compat_l; lra|unfold y; right; ring].
  assert (sizeb : Rabs b <= y + u * y + lambda * tiny).
    replace b with ((b - lambda * a) + lambda * a) by ring; refine (Rle_trans _ _ _ (Rabs_triang _ _) _).
    rewrite (Rabs_mult lambda a), (Rabs_pos_eq lambda l0); fold y; lra.
  assert (ub : u * Rabs b <= u * (y + u * y + lambda * tiny)) by (apply Rmult_le_compat_l; lra).
  assert (hma : Rabs (m - lambda * a) <= 2 * (u * y) + u * y / 100 + 3 / 2 * (lambda * tiny) + tiny).
    replace (m - lambda * a) with ((m - b) + (b - lambda * a)) by ring; refine (Rle_trans _ _ _ (Rabs_triang _ _) _); lra.
  assert (sizem : Rabs m <= y + y / 100 + 3 / 2 * (lambda * tiny) + tiny).
    replace m with ((m - lambda * a) + lambda * a) by ring; refine (Rle_trans _ _ _ (Rabs_triang _ _) _).
    rewrite (Rabs_mult lambda a), (Rabs_pos_eq lambda l0); fold y; lra.
  assert (um : u * Rabs m <= u * (y + y / 100 + 3 / 2 * (lambda * tiny) + tiny)) by (apply Rmult_le_compat_l; lra).
  assert (uGm : u * Rabs (G j + m) <= u * (Rabs (G j) + Rabs m)) by (apply Rmult_le_compat_l; [lra|apply Rabs_triang]).
  replace (rounded (G j + m) - (G j + lambda * a)) with ((rounded (G j + m) - (G j + m)) + (m - lambda * a)) by ring.
  refine (Rle_trans _ _ _ (Rabs_triang _ _) _); lra.
refine (Rle_trans _ _ _ (norm_triangle d _ (fun _ => 2 * (lambda + 1) * tiny)) _).
assert (k : norm d (fun _ => 2 * (lambda + 1) * tiny) <= INR d * (2 * (lambda + 1) * tiny)) by (apply norm_const; apply Rmult_le_pos; lra).
assert (abs_norm : forall v, norm d (fun j => Rabs (v j)) = norm d v).
  intros v; unfold norm, dot; f_equal; apply total_eq; intros j _; rewrite <- Rabs_mult; apply Rabs_pos_eq, Rle_0_sqr.
assert (h : norm d (fun j => u * Rabs (G j) + 4 * u * (lambda / C * Rabs (w j))) <= u * norm d G + 4 * u * (lambda / C * norm d w)).
  refine (Rle_trans _ _ _ (norm_triangle d _ _) _).
  rewrite (norm_scale d u), (norm_eq d (fun j => 4 * u * (lambda / C * Rabs (w j))) (fun j => 4 * u * (lambda / C) * Rabs (w j))) by (intros; ring).
  rewrite (norm_scale d (4 * u * (lambda / C))), !abs_norm, !Rabs_pos_eq by (try apply Rmult_le_pos; lra); right; ring.
lra.
Qed.

Section accepted.
Variables (n d h : nat) (row : nat -> nat -> R) (w w_S : nat -> R) (slope : nat -> R -> R) (B kappa mu rho r tau : R).
Variables (prediction sum : nat -> evaluation) (s : nat -> R) (squares : evaluation).
Hypotheses (n0 : (0 < n)%nat) (d0 : (0 < d)%nat) (few : INR d <= most_weights) (low : INR h <= 10000).
Hypotheses (B0 : 0 < B) (kappa0 : 0 <= kappa) (mu0 : 0 < mu) (rho0 : 0 <= rho) (R0 : 0 <= r).
Hypothesis rows : forall i, (i < n)%nat -> norm d (row i) <= B.
Hypothesis steep : forall i a b, Rabs (slope i a - slope i b) <= kappa * Rabs (a - b).
Hypothesis bounded : forall i m, Rabs m <= B * r -> B * Rabs (slope i m) <= rho.
Hypothesis predictions : forall i, (i < n)%nat -> evaluates (prediction i) d w (row i).
Hypothesis slopes : forall i, (i < n)%nat ->
  Rabs (s i - slope i (computed (prediction i))) <= 8 * u * Rabs (slope i (computed (prediction i))) + tiny.
Hypothesis sums : forall j, (j < d)%nat -> evaluates (sum j) n s (fun i => row i j) /\ (height (sum j) <= h)%nat.
Hypothesis grows : forall i a b, 0 <= (slope i a - slope i b) * (a - b).

Let gradient := true_gradient n d row w slope mu.
Let G := computed_gradient n w mu sum.
Let D := norm d (fun j => w j - w_S j).
Let beta := kappa * (B * B).
Let g := (INR h + INR d + 20) * u.

(* The minimiser in the ball of radius limit, with its multiplier. *)
Variables (limit nu : R).
Hypotheses (minimiser : norm d w_S <= r) (inside : norm d w_S <= limit) (nu0 : 0 <= nu).
Hypotheses (multiplier : nu = 0 \/ norm d w_S = limit).
Hypothesis stationary : forall j, (j < d)%nat -> true_gradient n d row w_S slope mu j + nu * w_S j = 0.

(* What is tested: C is the computed norm of w, lambda what the gradient's part along w was found to be, if that part points
   inwards and w counts as on the sphere, and else 0. z is how w is scaled to lie in the ball, on the sphere if lambda is not 0. *)
Variables (C lambda z : R).
Hypotheses (C0 : 0 < C) (C_close : norm d w <= (1 + / 1000) * C).
Hypotheses (lambda0 : 0 <= lambda) (lambda_small : lambda <= (1 + / 1000) * norm d G).
Hypotheses (z0 : 0 < z) (z_close : Rabs (z - 1) <= g / 2).
Hypotheses (placed : z * norm d w <= limit) (on_sphere : lambda = 0 \/ z * norm d w = limit).
Let result := balanced G lambda C w.
Hypothesis norm_of : evaluates squares d result result.
Hypothesis test : rounded (sqrt (computed squares)) <= rounded (rounded (9 / 10) * tau).
Hypothesis tolerance : 20 * (g * (rho + mu * r + (beta + mu) * r)) * (1 - billionth) <= tau.
Hypothesis conditioned : 100 * g * (beta + mu) <= mu * (1 + billionth).
Hypothesis no_underflow : 1000000000000 * underflow <= tau.
Hypothesis little_lost : 2 * lost d B kappa + INR d * (2 * (lambda + 1) * tiny) <= tau / 1000000.

Let D0 : 0 <= D. Proof. apply norm_ge0. Qed.
Let beta0 : 0 <= beta. Proof. unfold beta; repeat apply Rmult_le_pos; lra. Qed.
Let W := norm d w.
Let W0 : 0 <= W. Proof. apply norm_ge0. Qed.
Let reached : W <= r + D. Proof. exact (reach d w w_S r minimiser). Qed.

(* The gradient's size, and the computed one's error. *)
Let P : B * (total (fun i => Rabs (slope i (dot d w (row i)))) n / INR n) <= rho + beta * D.
Proof.
assert (N0 : 0 < INR n) by now apply (lt_INR 0).
replace (rho + beta * D) with (total (fun _ => rho + beta * D) n / INR n) by (rewrite total_const; field; lra).
unfold Rdiv; rewrite <- Rmult_assoc, <- total_scale; apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, N0|].
apply total_le; intros; now apply (further n d row w w_S slope B kappa rho r).
Qed.

Let size : norm d gradient <= rho + beta * D + mu * W.
Proof.
unfold gradient, true_gradient.
refine (Rle_trans _ _ _ (norm_triangle d _ _) _); rewrite norm_scale, (Rabs_pos_eq mu) by lra; fold W.
assert (N0 : 0 < / INR n) by now apply Rinv_0_lt_compat, (lt_INR 0).
assert (norm d (fun j => total (fun i => slope i (dot d w (row i)) * row i j) n / INR n) <= rho + beta * D); [|lra].
refine (Rle_trans _ _ _ _ P).
rewrite (norm_eq d _ (fun j => / INR n * total (fun i => slope i (dot d w (row i)) * row i j) n)) by (intros; unfold Rdiv; ring).
rewrite norm_scale, (Rabs_pos_eq (/ INR n)) by lra.
replace (B * (total (fun i => Rabs (slope i (dot d w (row i)))) n / INR n)) with
  (/ INR n * (B * total (fun i => Rabs (slope i (dot d w (row i)))) n)) by (unfold Rdiv; ring).
apply Rmult_le_compat_l; [lra|]; refine (Rle_trans _ _ _ (norm_total d (fun i j => slope i (dot d w (row i)) * row i j) n) _).
rewrite <- total_scale; apply total_le; intros i hi; rewrite norm_scale, Rmult_comm.
apply Rmult_le_compat_r; [apply Rabs_pos|now apply rows].
Qed.

Let error : norm d (fun j => G j - gradient j) <=
  (INR h + 11) * u * (rho + beta * D) + (INR d + 1) * u * beta * W + 3 * u * mu * W + lost d B kappa.
Proof.
exact (A4_gradient n d h row w slope B kappa mu _ prediction sum s n0 few low (Rlt_le _ _ B0) kappa0
  (Rlt_le _ _ mu0) rows steep predictions slopes sums P).
Qed.

(* Inequality (1) of the page for what is tested. *)
Lemma balanced_gradient : norm d (fun j => result j - (gradient j + lambda / C * w j)) <=
  g * (rho + (beta + mu) * r) + g * (beta + mu) * D + (2 * lost d B kappa + INR d * (2 * (lambda + 1) * tiny)).
Proof.
assert (us := u_small); assert (t0 := tiny_gt0); assert (Dp := D0); assert (b0 := beta0); assert (Wp := W0); assert (Wr := reached).
assert (hd := pos_INR d); assert (hh := pos_INR h); assert (d1 : 1 <= INR d) by (apply (le_INR 1); lia).
set (Z := rho + beta * D + mu * W) in *; assert (bD : 0 <= beta * D) by (apply Rmult_le_pos; lra).
assert (mW : 0 <= mu * W) by (apply Rmult_le_pos; lra); assert (bW : 0 <= beta * W) by (apply Rmult_le_pos; lra).
assert (Z0 : 0 <= Z) by (unfold Z; lra); assert (l0 : 0 <= lost d B kappa).
  unfold lost; apply Rmult_le_pos; [|lra]; assert (0 <= kappa * B * INR d) by (repeat apply Rmult_le_pos; lra); lra.
assert (er := error); set (E := norm d (fun j => G j - gradient j)) in *.
assert (sizeG : norm d G <= Z + E).
  rewrite (norm_eq d G (fun j => gradient j + (G j - gradient j))) by (intros; ring).
  apply Rle_trans with (norm d gradient + E); [exact (norm_triangle d gradient (fun j => G j - gradient j))|].
  assert (sz := size); fold Z in sz; lra.
assert (q : lambda / C * W <= (1 + / 1000) * lambda).
  apply Rle_trans with (lambda / C * ((1 + / 1000) * C)); [|right; field; lra].
  apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat, C0]|exact C_close].
assert (hb := balanced_error d G lambda C w lambda0 C0 (fun j => rounded_double _)).
change (norm d (fun j => result j - (G j + lambda / C * w j)) <=
  u * norm d G + 4 * u * (lambda / C * W) + INR d * (2 * (lambda + 1) * tiny)) in hb.
assert (first : norm d (fun j => result j - (gradient j + lambda / C * w j)) <=
    norm d (fun j => result j - (G j + lambda / C * w j)) + E).
  rewrite (norm_eq d _ (fun j => (result j - (G j + lambda / C * w j)) + (G j - gradient j))) by (intros; ring).
  apply norm_triangle.
assert (G0 := norm_ge0 d G); assert (uq : u * (lambda / C * W) <= u * ((1 + / 1000) * ((1 + / 1000) * norm d G))).
  apply Rmult_le_compat_l; [lra|]; refine (Rle_trans _ _ _ q _); apply Rmult_le_compat_l; lra.
assert (uG : u * norm d G <= u * (Z + E)) by (apply Rmult_le_compat_l; lra).
(* the error is small beside the size *)
assert (x := most_u d few).
assert (hu : 0 <= INR h * u <= 12 / 10000000000000) by (split; [apply Rmult_le_pos; lra|
  apply Rle_trans with (10000 * u); [apply Rmult_le_compat_r|]; lra]).
assert (c1 : (INR h + 11) * u * (rho + beta * D) <= / 1000 * Z).
  apply Rle_trans with (/ 1000 * (rho + beta * D)); [apply Rmult_le_compat_r; lra|unfold Z; lra].
assert (c3 : 3 * u * mu * W <= / 1000 * Z).
  replace (3 * u * mu * W) with (3 * u * (mu * W)) by ring.
  apply Rle_trans with (/ 1000 * (mu * W)); [apply Rmult_le_compat_r; lra|unfold Z; lra].
assert (c2 : (INR d + 1) * u * beta * W <= / 1000 * (beta * W)).
  replace ((INR d + 1) * u * beta * W) with ((INR d + 1) * u * (beta * W)) by ring; apply Rmult_le_compat_r; lra.
assert (uE : u * E <= u * (/ 500 * Z + / 1000 * (beta * W) + lost d B kappa)) by (apply Rmult_le_compat_l; lra).
assert (ul : u * lost d B kappa <= / 1000 * lost d B kappa) by (apply Rmult_le_compat_r; lra).
set (uZ := u * Z); assert (eZ : uZ = u * rho + u * (beta * D) + u * (mu * W)) by (unfold uZ, Z; ring).
assert (total_error : norm d (fun j => result j - (gradient j + lambda / C * w j)) <=
    (INR h + 11) * u * (rho + beta * D) + (INR d + 1) * u * beta * W + 3 * u * mu * W
    + 51 / 10 * uZ + / 100 * (u * (beta * W)) + (2 * lost d B kappa + INR d * (2 * (lambda + 1) * tiny))).
  assert (0 <= u * Z) by (apply Rmult_le_pos; lra); assert (0 <= u * (beta * W)) by (apply Rmult_le_pos; lra).
  unfold uZ in *; lra.
refine (Rle_trans _ _ _ total_error _); apply Rplus_le_compat_r; rewrite eZ.
assert (m1 : 0 <= u * rho) by (apply Rmult_le_pos; lra); assert (m2 : 0 <= u * (beta * r)) by (repeat apply Rmult_le_pos; lra).
assert (m3 : 0 <= u * (beta * D)) by (apply Rmult_le_pos; lra); assert (m4 : 0 <= u * (mu * r)) by (repeat apply Rmult_le_pos; lra).
assert (m5 : 0 <= u * (mu * D)) by (repeat apply Rmult_le_pos; lra).
assert (bw : u * (beta * W) <= u * (beta * r) + u * (beta * D)).
  rewrite <- Rmult_plus_distr_l; apply Rmult_le_compat_l; [lra|]; rewrite <- Rmult_plus_distr_l; apply Rmult_le_compat_l; lra.
assert (mw : u * (mu * W) <= u * (mu * r) + u * (mu * D)).
  rewrite <- Rmult_plus_distr_l; apply Rmult_le_compat_l; [lra|]; rewrite <- Rmult_plus_distr_l; apply Rmult_le_compat_l; lra.
assert (dbw : INR d * (u * (beta * W)) <= INR d * (u * (beta * r) + u * (beta * D))) by (apply Rmult_le_compat_l; lra).
assert (p1 : forall y, 0 <= y -> y <= INR d * y) by (intros y y0; rewrite <- (Rmult_1_l y) at 1; apply Rmult_le_compat_r; lra).
assert (p2 : forall y, 0 <= y -> 0 <= INR h * y) by (intros; apply Rmult_le_pos; lra).
generalize (p1 _ m1) (p1 _ m2) (p1 _ m3) (p1 _ m4) (p1 _ m5) (p2 _ m1) (p2 _ m2) (p2 _ m3) (p2 _ m4) (p2 _ m5); intros.
unfold g; lra.
Qed.

Theorem A4_accepted_in_a_ball : D <= 996 / 1000 * (tau / mu).
Proof.
assert (us := u_small); assert (hd := pos_INR d); assert (hh := pos_INR h); assert (Dp := D0); assert (b0 := beta0); assert (Wp := W0).
assert (Wr := reached); assert (g0 : 0 <= g) by (unfold g; apply Rmult_le_pos; lra).
pose (x := fun j => z * w j); set (l := lambda / (C * z)).
assert (l0 : 0 <= l) by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; lra]).
assert (nx : norm d x = z * W) by (unfold x; rewrite norm_scale, Rabs_pos_eq by lra; reflexivity).
assert (apart : norm d (fun j => x j - w j) <= g / 2 * (r + D)).
  rewrite (norm_eq d _ (fun j => (z - 1) * w j)) by (intros; unfold x; ring); rewrite norm_scale; fold W.
  apply Rmult_le_compat; [apply Rabs_pos|lra|lra|lra].
set (X := norm d (fun j => x j - w_S j)).
set (p := fun j => true_gradient n d row x slope mu j + l * x j).
assert (part1 : mu * X <= norm d p).
{ apply (small_subgradient n d row x w_S slope mu l nu n0 mu0 grows l0 nu0).
  - destruct on_sphere as [e|e]; [left; unfold l; rewrite e; unfold Rdiv; ring|right; rewrite nx; unfold W; lra].
  - destruct multiplier as [e|e]; [now left|right; rewrite nx; unfold W; lra].
  - exact stationary. }
refine (A4_budget mu tau g rho r (beta + mu) D X (norm d p) (norm d result)
  (2 * lost d B kappa + INR d * (2 * (lambda + 1) * tiny)) mu0 _ g0 rho0 R0 Dp little_lost _ _ part1 _ tolerance conditioned).
- lra.
- exact (accepted_norm d result squares tau few norm_of no_underflow test).
- assert (lip := gradient_lipschitz n d row x w slope B kappa mu n0 (Rlt_le _ _ B0) kappa0 (Rlt_le _ _ mu0) rows steep).
  fold beta gradient in lip.
  assert (move : (beta + mu) * norm d (fun j => x j - w j) <= (beta + mu) * (g / 2) * (r + D)).
    rewrite Rmult_assoc; apply Rmult_le_compat_l; lra.
  assert (err := balanced_gradient).
  rewrite (norm_eq d p (fun j => (result j + - 1 * (result j - (gradient j + lambda / C * w j))) +
    (true_gradient n d row x slope mu j - gradient j))).
    refine (Rle_trans _ _ _ (norm_triangle d _ _) _).
    assert (tri := norm_triangle d result (fun j => - 1 * (result j - (gradient j + lambda / C * w j)))).
    rewrite norm_scale, Rabs_left in tri by lra; lra.
  intros j hj; unfold p, x, l; field; lra.
- assert (D <= norm d (fun j => x j - w j) + X); [|lra]; unfold D; rewrite (norm_eq d (fun j => w j - w_S j) (fun j => - 1 * (x j - w j) + (x j - w_S j))) by (intros; ring).
  refine (Rle_trans _ _ _ (norm_triangle d _ _) _); rewrite norm_scale, Rabs_left by lra; fold X; lra.
Qed.

End accepted.
