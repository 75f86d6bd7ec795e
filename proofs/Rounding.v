(* Sums, norms and clipped rows in doubles (pages A4, part 2, and M4). A sum of products may be computed in any order, in
   blocks, with fused operations or without; underflow is gradual and counted; nothing overflows. *)

From Coq Require Import Reals Lra Lia Psatz List Permutation.
From Flocq Require Import Core.
From Equipoise Require Import Doubles.

Open Scope R_scope.

(* Sums over 0, ..., n - 1, and vectors of d entries. *)
Fixpoint total (f : nat -> R) (n : nat) : R := match n with O => 0 | S k => total f k + f k end.
Definition dot d (v w : nat -> R) := total (fun j => v j * w j) d.
Definition norm d (v : nat -> R) := sqrt (dot d v v).

Lemma total_le f g n : (forall i, (i < n)%nat -> f i <= g i) -> total f n <= total g n.
Proof.
induction n as [|n IH]; intros le; simpl; [lra|].
apply Rplus_le_compat; [apply IH; intros; apply le; lia|apply le; lia].
Qed.

Lemma total_eq f g n : (forall i, (i < n)%nat -> f i = g i) -> total f n = total g n.
Proof. intros e; apply Rle_antisym; apply total_le; intros i hi; rewrite (e i hi); lra. Qed.

Lemma total_plus f g n : total (fun i => f i + g i) n = total f n + total g n.
Proof. induction n as [|n IH]; simpl; [lra|rewrite IH; ring]. Qed.

Lemma total_scale c f n : total (fun i => c * f i) n = c * total f n.
Proof. induction n as [|n IH]; simpl; [lra|rewrite IH; ring]. Qed.

Lemma total_const c n : total (fun _ => c) n = INR n * c.
Proof. induction n as [|n IH]; [simpl; lra|rewrite S_INR; simpl total; rewrite IH; ring]. Qed.

Lemma total_abs f n : Rabs (total f n) <= total (fun i => Rabs (f i)) n.
Proof.
induction n as [|n IH]; simpl; [rewrite Rabs_R0; lra|].
refine (Rle_trans _ _ _ (Rabs_triang _ _) _); lra.
Qed.

Lemma total_ge0 f n : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= total f n.
Proof.
intros f0; replace 0 with (total (fun _ => 0) n); [now apply total_le|].
rewrite total_const; ring.
Qed.

Lemma square_ge0 d v : 0 <= dot d v v.
Proof. apply total_ge0; intros j _; apply Rle_0_sqr. Qed.

Lemma norm_ge0 d v : 0 <= norm d v.
Proof. apply sqrt_pos. Qed.

Lemma norm_square d v : norm d v * norm d v = dot d v v.
Proof. apply sqrt_sqrt, square_ge0. Qed.

Lemma norm_below d v c : 0 <= c -> dot d v v <= c * c -> norm d v <= c.
Proof. intros c0 le; rewrite <- (sqrt_square c c0); now apply sqrt_le_1_alt. Qed.

Lemma norm_le d v w : (forall j, (j < d)%nat -> Rabs (v j) <= w j) -> norm d v <= norm d w.
Proof.
intros le; apply sqrt_le_1_alt, total_le; intros j hj.
generalize (le j hj) (Rabs_pos (v j)); rewrite <- (Rabs_pos_eq (v j * v j)) by apply Rle_0_sqr.
rewrite Rabs_mult; intros; nra.
Qed.

Lemma norm_eq d v w : (forall j, (j < d)%nat -> v j = w j) -> norm d v = norm d w.
Proof. intros e; unfold norm, dot; f_equal; apply total_eq; intros j hj; now rewrite (e j hj). Qed.

Lemma norm_scale d c v : norm d (fun j => c * v j) = Rabs c * norm d v.
Proof.
unfold norm, dot; rewrite <- (sqrt_Rsqr_abs c), <- sqrt_mult_alt by apply Rle_0_sqr.
f_equal; unfold Rsqr; rewrite <- total_scale; apply total_eq; intros; ring.
Qed.

Lemma norm_const d c : 0 <= c -> norm d (fun _ => c) <= INR d * c.
Proof.
intros c0; apply norm_below; [apply Rmult_le_pos; [apply pos_INR|lra]|].
unfold dot; rewrite total_const; destruct d as [|d]; [simpl; lra|].
assert (1 <= INR (S d)) by (rewrite S_INR; generalize (pos_INR d); lra).
nra.
Qed.

(* Cauchy and Schwarz, by induction on the number of entries. *)
Lemma cauchy d v w : total (fun j => Rabs (v j) * Rabs (w j)) d <= norm d v * norm d w.
Proof.
induction d as [|d IH]; [simpl; generalize (norm_ge0 0 v) (norm_ge0 0 w); nra|].
simpl; set (s := total _ d) in *.
assert (s0 : 0 <= s) by (apply total_ge0; intros; apply Rmult_le_pos; apply Rabs_pos).
unfold norm; rewrite <- sqrt_mult_alt by apply square_ge0.
set (p := Rabs (v d)); set (q := Rabs (w d)).
assert (p0 : 0 <= p) by apply Rabs_pos; assert (q0 : 0 <= q) by apply Rabs_pos.
rewrite <- (sqrt_square (s + p * q)) by nra; apply sqrt_le_1_alt.
unfold dot; simpl; fold (dot d v v) (dot d w w).
assert (ep : v d * v d = p * p) by (unfold p; rewrite <- Rabs_mult, Rabs_pos_eq; [reflexivity|apply Rle_0_sqr]).
assert (eq : w d * w d = q * q) by (unfold q; rewrite <- Rabs_mult, Rabs_pos_eq; [reflexivity|apply Rle_0_sqr]).
rewrite ep, eq, <- (norm_square d v), <- (norm_square d w).
generalize (norm_ge0 d v) (norm_ge0 d w); set (a := norm d v) in *; set (b := norm d w) in *; intros a0 b0.
assert (0 <= (a * q - b * p) * (a * q - b * p)) by apply Rle_0_sqr.
assert (s * s <= (a * b) * (a * b)) by nra.
assert (s * (p * q) <= (a * b) * (p * q)) by (apply Rmult_le_compat_r; nra).
nra.
Qed.

Lemma dot_norm d v w : Rabs (dot d v w) <= norm d v * norm d w.
Proof.
refine (Rle_trans _ _ _ (total_abs _ _) _); refine (Rle_trans _ _ _ _ (cauchy d v w)).
apply total_le; intros; rewrite Rabs_mult; lra.
Qed.

Lemma norm_triangle d v w : norm d (fun j => v j + w j) <= norm d v + norm d w.
Proof.
generalize (norm_ge0 d v) (norm_ge0 d w); intros v0 w0; apply norm_below; [lra|].
assert (e : dot d (fun j => v j + w j) (fun j => v j + w j) = dot d v v + 2 * dot d v w + dot d w w).
  unfold dot; rewrite <- total_scale, <- !total_plus; apply total_eq; intros; ring.
rewrite e, <- !norm_square; generalize (Rle_abs (dot d v w)) (dot_norm d v w); nra.
Qed.


Lemma norm_total d (f : nat -> nat -> R) n : norm d (fun j => total (fun i => f i j) n) <= total (fun i => norm d (f i)) n.
Proof.
induction n as [|n IH]; simpl.
  apply norm_below; [lra|]; unfold dot; rewrite (total_eq _ (fun _ => 0)) by (intros; ring); rewrite total_const; lra.
refine (Rle_trans _ _ _ (norm_triangle d _ (f n)) _); lra.
Qed.

(* How a sum of products is computed. *)
Inductive evaluation :=
  | Product (x y : R)
  | Plus (l r : evaluation)
  | Fused (x y : R) (e : evaluation).

Fixpoint computed e := match e with
  | Product x y => rounded (x * y)
  | Plus l r => rounded (computed l + computed r)
  | Fused x y e => rounded (x * y + computed e) end.

Fixpoint products e := match e with
  | Product x y => (x, y) :: nil
  | Plus l r => products l ++ products r
  | Fused x y e => (x, y) :: products e end.

(* The most roundings that one product goes through. *)
Fixpoint height e := match e with
  | Product _ _ => 1%nat
  | Plus l r => S (max (height l) (height r))
  | Fused _ _ e => S (height e) end.

Definition sum_list := fold_right Rplus 0.
Definition exact e := sum_list (map (fun p => fst p * snd p) (products e)).
Definition absolute e := sum_list (map (fun p => Rabs (fst p) * Rabs (snd p)) (products e)).
Definition count e := length (products e).

Lemma sum_list_app l r : sum_list (l ++ r) = sum_list l + sum_list r.
Proof. induction l as [|x l IH]; simpl; [lra|rewrite IH; ring]. Qed.

Lemma sum_list_permutation l r : Permutation l r -> sum_list l = sum_list r.
Proof. induction 1; simpl; lra. Qed.

Lemma absolute_ge0 e : 0 <= absolute e.
Proof.
unfold absolute; induction (products e) as [|[x y] l IH]; simpl; [lra|].
generalize (Rabs_pos x) (Rabs_pos y); nra.
Qed.

Lemma exact_le e : Rabs (exact e) <= absolute e.
Proof.
unfold exact, absolute; induction (products e) as [|[x y] l IH]; simpl; [rewrite Rabs_R0; lra|].
refine (Rle_trans _ _ _ (Rabs_triang _ _) _); rewrite Rabs_mult; lra.
Qed.

Lemma computed_double e : double (computed e).
Proof. destruct e; apply rounded_double. Qed.

Lemma count_gt0 e : (0 < count e)%nat.
Proof.
unfold count; destruct e as [x y|l r|x y e]; simpl; try lia.
rewrite app_length; assert (0 < length (products l))%nat; [|lia].
clear; induction l as [x y|l IHl r IHr|x y e IH]; simpl; try lia; rewrite app_length; lia.
Qed.

Lemma height_le_count e : (height e <= count e)%nat.
Proof.
unfold count; induction e as [x y|l IHl r IHr|x y e IH]; simpl; try lia.
rewrite app_length; generalize (count_gt0 l) (count_gt0 r); unfold count; lia.
Qed.

Lemma power_le j k : (j <= k)%nat -> (1 + u) ^ j <= (1 + u) ^ k.
Proof. intros le; apply Rle_pow; [generalize u_gt0; lra|exact le]. Qed.

Lemma power_ge1 k : 1 <= (1 + u) ^ k.
Proof. apply (power_le 0); lia. Qed.

(* Page A4, part 2: a sum of products in any order. The power is the number of roundings a product goes through; 2^-1075 a
   product is what underflow may add. *)
Theorem sum_of_products_height e :
  Rabs (computed e - exact e) <=
    ((1 + u) ^ height e - 1) * absolute e + INR (count e) * (1 + u) ^ height e * tiny.
Proof.
assert (u0 := u_gt0); assert (t0 := tiny_gt0).
induction e as [x y|l IHl r IHr|x y e IH].
- unfold exact, absolute, count; simpl; rewrite !Rplus_0_r, !Rmult_1_r, Rmult_1_l, <- Rabs_mult.
  refine (Rle_trans _ _ _ (rounding_error (x * y)) _); nra.
- assert (ex : exact (Plus l r) = exact l + exact r) by (unfold exact; simpl; now rewrite map_app, sum_list_app).
  assert (ab : absolute (Plus l r) = absolute l + absolute r)
    by (unfold absolute; simpl; now rewrite map_app, sum_list_app).
  assert (co : INR (count (Plus l r)) = INR (count l) + INR (count r))
    by (unfold count; simpl; now rewrite app_length, plus_INR).
  rewrite ex, ab, co; simpl height; simpl computed; simpl pow.
  set (h := max (height l) (height r)).
  assert (pl := power_le (height l) h (Nat.le_max_l _ _)); assert (pr := power_le (height r) h (Nat.le_max_r _ _)).
  generalize (sum_error _ _ (computed_double l) (computed_double r)) (exact_le l) (exact_le r).
  generalize (absolute_ge0 l) (absolute_ge0 r) (pos_INR (count l)) (pos_INR (count r)) (power_ge1 h).
  set (p := (1 + u) ^ h) in *; set (a := computed l) in *; set (b := computed r) in *.
  set (A := absolute l) in *; set (B := absolute r) in *; set (k := INR (count l)) in *; set (m := INR (count r)) in *.
  intros A0 B0 k0 m0 p1 sum el er.
  assert (Hl : Rabs (a - exact l) <= (p - 1) * A + k * p * tiny).
    refine (Rle_trans _ _ _ IHl _); apply Rplus_le_compat.
      apply Rmult_le_compat_r; lra.
    apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; lra.
  assert (Hr : Rabs (b - exact r) <= (p - 1) * B + m * p * tiny).
    refine (Rle_trans _ _ _ IHr _); apply Rplus_le_compat.
      apply Rmult_le_compat_r; lra.
    apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; lra.
  assert (Hs : Rabs (a + b) <= Rabs (a - exact l) + Rabs (b - exact r) + A + B).
    replace (a + b) with ((a - exact l) + (b - exact r) + exact l + exact r) by ring.
    generalize (Rabs_triang ((a - exact l) + (b - exact r) + exact l) (exact r)).
    generalize (Rabs_triang ((a - exact l) + (b - exact r)) (exact l)).
    generalize (Rabs_triang (a - exact l) (b - exact r)); lra.
  replace (rounded (a + b) - (exact l + exact r)) with
    ((rounded (a + b) - (a + b)) + ((a - exact l) + (b - exact r))) by ring.
  generalize (Rabs_triang (rounded (a + b) - (a + b)) ((a - exact l) + (b - exact r))).
  generalize (Rabs_triang (a - exact l) (b - exact r)); intros t1 t2.
  assert (u * Rabs (a + b) <= u * (Rabs (a - exact l) + Rabs (b - exact r) + A + B)) by (apply Rmult_le_compat_l; lra).
  assert ((1 + u) * (Rabs (a - exact l) + Rabs (b - exact r)) <=
    (1 + u) * ((p - 1) * A + k * p * tiny + ((p - 1) * B + m * p * tiny))) by (apply Rmult_le_compat_l; lra).
  lra.
- assert (ex : exact (Fused x y e) = x * y + exact e) by reflexivity.
  assert (ab : absolute (Fused x y e) = Rabs (x * y) + absolute e) by (rewrite Rabs_mult; reflexivity).
  assert (co : INR (count (Fused x y e)) = INR (count e) + 1) by (rewrite <- S_INR; reflexivity).
  rewrite ex, ab, co; simpl height; simpl computed; simpl pow.
  generalize (rounding_error (x * y + computed e)) (exact_le e).
  generalize (absolute_ge0 e) (pos_INR (count e)) (power_ge1 (height e)) (Rabs_pos (x * y)).
  set (p := (1 + u) ^ height e) in *; set (a := computed e) in *; set (z := x * y) in *.
  set (A := absolute e) in *; set (k := INR (count e)) in *.
  intros A0 k0 p1 z0 rounding le.
  assert (Hs : Rabs (z + a) <= Rabs z + Rabs (a - exact e) + A).
    replace (z + a) with (z + (a - exact e) + exact e) by ring.
    generalize (Rabs_triang (z + (a - exact e)) (exact e)) (Rabs_triang z (a - exact e)); lra.
  replace (rounded (z + a) - (z + exact e)) with ((rounded (z + a) - (z + a)) + (a - exact e)) by ring.
  generalize (Rabs_triang (rounded (z + a) - (z + a)) (a - exact e)); intros t1.
  assert (u * Rabs (z + a) <= u * (Rabs z + Rabs (a - exact e) + A)) by (apply Rmult_le_compat_l; lra).
  assert ((1 + u) * Rabs (a - exact e) <= (1 + u) * ((p - 1) * A + k * p * tiny)) by (apply Rmult_le_compat_l; lra).
  assert (0 <= u * (p - 1) * Rabs z) by (repeat apply Rmult_le_pos; lra).
  assert (0 <= (p - 1) * Rabs z) by (apply Rmult_le_pos; lra).
  assert (1 * tiny <= (1 + u) * p * tiny) by (apply Rmult_le_compat_r; [lra|]; nra).
  lra.
Qed.

(* gamma_k = k u/(1 - k u). *)
Lemma power_gamma k : INR k * u < 1 -> (1 + u) ^ k - 1 <= INR k * u / (1 - INR k * u).
Proof.
intros small; assert (u0 := u_gt0).
assert (h : (1 + u) ^ k * (1 - INR k * u) <= 1).
  clear small; induction k as [|k IH]; [simpl; lra|rewrite S_INR; simpl].
  assert (p1 := power_ge1 k); set (p := (1 + u) ^ k) in *; assert (k0 := pos_INR k).
  assert (0 <= p * ((INR k + 1) * u * u)) by (apply Rmult_le_pos; [lra|]; repeat apply Rmult_le_pos; lra).
  lra.
apply (Rmult_le_reg_r (1 - INR k * u)); [lra|].
unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra.
Qed.

Corollary sum_of_products e : INR (count e) * u < 1 ->
  Rabs (computed e - exact e) <=
    INR (count e) * u / (1 - INR (count e) * u) * absolute e + INR (count e) / (1 - INR (count e) * u) * tiny.
Proof.
intros small; assert (t0 := tiny_gt0); assert (k0 := pos_INR (count e)).
refine (Rle_trans _ _ _ (sum_of_products_height e) _).
assert (p := power_le _ _ (height_le_count e)); assert (g := power_gamma _ small).
assert (one : 1 + INR (count e) * u / (1 - INR (count e) * u) = 1 / (1 - INR (count e) * u)) by (field; lra).
apply Rplus_le_compat; [apply Rmult_le_compat_r; [apply absolute_ge0|lra]|].
apply Rmult_le_compat_r; [lra|]; unfold Rdiv; apply Rmult_le_compat_l; lra.
Qed.

(* e computes the sum of a i b i over i < k. *)
Definition evaluates e k (a b : nat -> R) := Permutation (products e) (map (fun i => (a i, b i)) (seq 0 k)).

Lemma total_list f k : sum_list (map f (seq 0 k)) = total f k.
Proof.
induction k as [|k IH]; [reflexivity|].
rewrite seq_S, map_app, sum_list_app, IH; simpl; ring.
Qed.

Lemma evaluates_exact e k a b : evaluates e k a b -> exact e = dot k a b.
Proof.
intros h; unfold exact; rewrite (sum_list_permutation _ _ (Permutation_map _ h)), map_map; apply total_list.
Qed.

Lemma evaluates_absolute e k a b : evaluates e k a b -> absolute e = total (fun i => Rabs (a i) * Rabs (b i)) k.
Proof.
intros h; unfold absolute; rewrite (sum_list_permutation _ _ (Permutation_map _ h)), map_map; apply total_list.
Qed.

Lemma evaluates_count e k a b : evaluates e k a b -> count e = k.
Proof. intros h; unfold count; now rewrite (Permutation_length h), map_length, seq_length. Qed.

(* One product of vectors. *)
Theorem computed_dot e d v w : evaluates e d v w -> INR d * u < 1 ->
  Rabs (computed e - dot d v w) <=
    INR d * u / (1 - INR d * u) * (norm d v * norm d w) + INR d / (1 - INR d * u) * tiny.
Proof.
intros h small; generalize (sum_of_products e).
rewrite (evaluates_exact _ _ _ _ h), (evaluates_absolute _ _ _ _ h), (evaluates_count _ _ _ _ h).
intros le; refine (Rle_trans _ _ _ (le small) _); apply Rplus_le_compat_r, Rmult_le_compat_l; [|apply cauchy].
generalize (pos_INR d) u_gt0; intros; apply Rmult_le_pos; [nra|]; apply Rlt_le, Rinv_0_lt_compat; lra.
Qed.

(* Numbers of weights and columns that the library allows, and what underflow adds to a norm. *)
Definition most_weights := 4000000.
Definition underflow := bpow radix2 (-500).

Lemma u_small : 11 / 100000000000000000 < u < 112 / 1000000000000000000.
Proof. rewrite u_value; lra. Qed.

Lemma tiny_small : tiny = bpow radix2 (-75) * (underflow * underflow).
Proof. unfold tiny, underflow; rewrite <- !bpow_plus; reflexivity. Qed.

Lemma underflow_gt0 : 0 < underflow.
Proof. apply bpow_gt_0. Qed.

Lemma underflow_le1 : underflow <= 1.
Proof. change 1 with (bpow radix2 0); apply bpow_le; lia. Qed.

Lemma most_u d : INR d <= most_weights -> 0 <= INR d * u <= 448 / 1000000000000.
Proof. unfold most_weights; intros le; generalize (pos_INR d) u_small; nra. Qed.

(* d 2^-1075/(1 - d u) is at most half of (2^-500)^2. *)
Lemma lost_squares d : INR d <= most_weights -> 0 <= INR d / (1 - INR d * u) * tiny <= underflow * underflow / 1000000.
Proof.
intros le; generalize (most_u d le) tiny_gt0 (pos_INR d); intros x t0 d0.
assert (i : / (1 - INR d * u) <= 2).
  rewrite <- (Rinv_inv 2) at 1; apply Rinv_le_contravar; lra.
assert (i0 : 0 < / (1 - INR d * u)) by (apply Rinv_0_lt_compat; lra).
unfold Rdiv; split; [repeat apply Rmult_le_pos; lra|].
assert (INR d * / (1 - INR d * u) <= 8000000) by (unfold most_weights in le; nra).
rewrite tiny_small; assert (w0 := underflow_gt0).
assert (bpow radix2 (-75) <= / 10000000000000000).
  apply Rle_trans with (bpow radix2 (-54)); [apply bpow_le; lia|simpl; lra].
assert (0 < bpow radix2 (-75)) by apply bpow_gt_0.
set (W := underflow * underflow); assert (0 < W) by (unfold W; nra).
set (q := INR d * / (1 - INR d * u)) in *; set (b := bpow radix2 (-75)) in *.
assert (0 <= q) by (unfold q; nra).
assert (q * b <= / 1000000) by nra.
replace (q * (b * W)) with (q * b * W) by ring.
apply Rle_trans with (/ 1000000 * W); [apply Rmult_le_compat_r; lra|lra].
Qed.

Section norms.
Variables (d : nat) (v : nat -> R) (e : evaluation).
Hypotheses (few : INR d <= most_weights) (squares : evaluates e d v v).
Let x := INR d * u.
Let relative := (INR d / 2 + 2) * u.
Let computed_norm := rounded (sqrt (computed e)).

Let x_small : 0 <= x <= 448 / 1000000000000. Proof. apply most_u, few. Qed.

Let sum_close : Rabs (computed e - norm d v * norm d v) <= x / (1 - x) * (norm d v * norm d v) + underflow * underflow / 1000000.
Proof.
rewrite norm_square; generalize (computed_dot e d v v squares) (lost_squares d few).
fold x; rewrite norm_square; intros h t; assert (x < 1) by lra; specialize (h H); lra.
Qed.

(* x + 2 x^2 is a bound of x/(1 - x). *)
Let quotient : 0 <= x / (1 - x) <= x + 2 * (x * x).
Proof.
split; [apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]|].
apply (Rmult_le_reg_r (1 - x)); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra.
Qed.

Let relative_x : relative = x / 2 + 2 * u. Proof. unfold relative, x; field. Qed.

(* Second-order terms are small beside one rounding. *)
Let second : x * x <= u / 100.
Proof.
unfold x; generalize u_small (most_u d few) (pos_INR d); unfold most_weights in few; intros.
replace (INR d * u * (INR d * u)) with (INR d * (INR d * u) * u) by ring; assert (INR d * (INR d * u) <= / 100) by nra; nra.
Qed.

Lemma computed_norm_ge0 : 0 <= computed_norm.
Proof. apply rounded_ge0, sqrt_pos. Qed.

Let root := sqrt (computed e).
Let root_close : Rabs (computed_norm - root) <= u * root.
Proof. apply root_error, computed_double. Qed.

(* Page M4: a computed norm is right to a relative (d/2 + 2) u, and to 2^-500. *)
Theorem norm_from_above : norm d v <= computed_norm * (1 + relative) + underflow.
Proof.
assert (u0 := u_gt0); assert (us := u_small); assert (w0 := underflow_gt0); assert (N0 := norm_ge0 d v); assert (C0 := computed_norm_ge0).
assert (root0 : 0 <= root) by apply sqrt_pos.
set (N := norm d v) in *; set (C := computed_norm) in *.
assert (rC : root * (1 - u) <= C) by (generalize root_close; unfold Rabs; destruct Rcase_abs; intros; lra).
destruct (Rle_or_lt (computed e) 0) as [neg|pos].
  (* the computed sum is 0 or less: all squares were lost *)
  generalize sum_close; fold N; unfold Rabs; destruct Rcase_abs; intros close.
    assert (N * N <= underflow * underflow) by nra.
    assert (N <= underflow) by (apply Rsqr_incr_0; unfold Rsqr; lra).
    rewrite relative_x; nra.
  assert (N * N <= 0) by nra; assert (N = 0) by nra; rewrite relative_x; nra.
assert (rr : root * root = computed e) by (apply sqrt_sqrt; lra).
assert (close : N * N * (1 - x / (1 - x)) <= root * root + underflow * underflow / 1000000).
  rewrite rr; generalize sum_close; fold N; unfold Rabs; destruct Rcase_abs; intros; nra.
set (g := x / (1 - x)) in *.
(* N^2 <= (root^2 + lost)(1 + g + 2 g^2), and the root of that factor is at most 1 + x/2 + u/10 *)
assert (g2 : g <= x + u / 50) by lra.
assert (gs : g <= 45 / 100000000000) by nra.
assert (g * g <= u / 80) by nra.
assert (inverse : N * N <= (root * root + underflow * underflow / 1000000) * (1 + g + 2 * (g * g))).
  assert (0 <= root * root + underflow * underflow / 1000000) by nra.
  assert (1 <= (1 - g) * (1 + g + 2 * (g * g))) by nra.
  assert (0 <= 1 + g + 2 * (g * g)) by nra.
  apply Rle_trans with (N * N * ((1 - g) * (1 + g + 2 * (g * g)))); [nra|].
  rewrite <- Rmult_assoc; apply Rmult_le_compat_r; lra.
set (f := 1 + x / 2 + u / 10).
assert (ff : 1 + g + 2 * (g * g) <= f * f) by (unfold f; nra).
assert (N <= (root + underflow / 1000) * f).
  assert (0 < f) by (unfold f; nra).
  apply Rsqr_incr_0; unfold Rsqr; [|lra|nra].
  apply Rle_trans with ((root * root + underflow * underflow / 1000000) * (f * f)); [apply Rle_trans with (1 := inverse); apply Rmult_le_compat_l; nra|].
  replace ((root + underflow / 1000) * f * ((root + underflow / 1000) * f)) with
    ((root + underflow / 1000) * (root + underflow / 1000) * (f * f)) by ring.
  apply Rmult_le_compat_r; nra.
assert (root <= C * (1 + u + u / 10)).
  apply Rle_trans with (root * (1 - u) * (1 + u + u / 10)); [|apply Rmult_le_compat_r; lra].
  assert (1 <= (1 - u) * (1 + u + u / 10)) by nra; nra.
assert (f2 : f <= 2) by (unfold f; lra).
assert (product : (1 + u + u / 10) * f <= 1 + relative) by (rewrite relative_x; unfold f; nra).
assert (root * f <= C * (1 + relative)).
  apply Rle_trans with (C * (1 + u + u / 10) * f); [apply Rmult_le_compat_r; unfold f; lra|].
  rewrite Rmult_assoc; apply Rmult_le_compat_l; lra.
nra.
Qed.

Theorem norm_from_below : computed_norm <= norm d v * (1 + relative) + underflow.
Proof.
assert (u0 := u_gt0); assert (us := u_small); assert (w0 := underflow_gt0); assert (N0 := norm_ge0 d v); assert (C0 := computed_norm_ge0).
assert (root0 : 0 <= root) by apply sqrt_pos.
set (N := norm d v) in *; set (C := computed_norm) in *.
assert (rC : C <= root * (1 + u)) by (generalize root_close; unfold Rabs; destruct Rcase_abs; intros; lra).
set (f := 1 + x / 2 + u / 10).
assert (f0 : 1 <= f) by (unfold f; lra).
assert (root <= (N + underflow / 1000) * f).
  destruct (Rle_or_lt (computed e) 0) as [neg|pos]; [unfold root; rewrite sqrt_neg by lra; nra|].
  assert (rr : root * root = computed e) by (apply sqrt_sqrt; lra).
  apply Rsqr_incr_0; unfold Rsqr; [|lra|nra]; rewrite rr.
  assert (computed e <= N * N * (1 + x / (1 - x)) + underflow * underflow / 1000000).
    generalize sum_close; fold N; unfold Rabs; destruct Rcase_abs; intros; nra.
  assert (1 + x / (1 - x) <= f * f) by (unfold f; nra).
  replace ((N + underflow / 1000) * f * ((N + underflow / 1000) * f)) with
    ((N + underflow / 1000) * (N + underflow / 1000) * (f * f)) by ring.
  apply Rle_trans with ((N * N + underflow * underflow / 1000000) * (f * f)); [|apply Rmult_le_compat_r; nra].
  assert (N * N * (1 + x / (1 - x)) <= N * N * (f * f)) by (apply Rmult_le_compat_l; nra).
  assert (underflow * underflow / 1000000 * 1 <= underflow * underflow / 1000000 * (f * f)) by (apply Rmult_le_compat_l; nra).
  lra.
assert (product : (1 + u) * f <= 1 + relative) by (rewrite relative_x; unfold f; nra).
assert (root * (1 + u) <= (N + underflow / 1000) * (1 + relative)).
  apply Rle_trans with ((N + underflow / 1000) * f * (1 + u)); [apply Rmult_le_compat_r; lra|].
  rewrite Rmult_assoc; apply Rmult_le_compat_l; nra.
assert (relative <= 1) by (rewrite relative_x; lra).
nra.
Qed.

End norms.
