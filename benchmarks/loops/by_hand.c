/* Values and gradients of the sum of all results, by reverse mode written by hand.

   double NAME(const long *s, const double *const *x, double *const *g, double *w)
   s: sizes; x: arrays; g: their gradients, to be filled; w: work memory. Returns the value. */

#include <math.h>
#include <string.h>

typedef const long *sizes;
typedef const double *const *arrays;
typedef double *const *gradients;

static double sum(long n, const double *x) {
    double total = 0.0;
    for (long i = 0; i < n; i++) total += x[i];
    return total;
}

static void fill(long n, double *x, double value) {
    for (long i = 0; i < n; i++) x[i] = value;
}

#define SWAP(a, b) do { double *kept = a; a = b; b = kept; } while (0)

/* s: n, steps */
double jacobi_1d(sizes s, arrays x, gradients g, double *w) {
    long n = s[0];
    double *a = w, *b = w + n, *c = w + 2 * n, *d = w + 3 * n;
    memcpy(a, x[0], n * sizeof(double));
    memcpy(b, x[0], n * sizeof(double));
    for (long t = 0; t < s[1]; t++) {
        for (long i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0;
        SWAP(a, b);
    }
    double value = sum(n, a);
    fill(n, c, 1.0);
    fill(n, d, 0.0);
    for (long t = 0; t < s[1]; t++) {
        d[0] += c[1] / 3.0;
        d[1] += (c[1] + c[2]) / 3.0;
        for (long i = 2; i < n - 2; i++) d[i] += (c[i - 1] + c[i] + c[i + 1]) / 3.0;
        d[n - 2] += (c[n - 3] + c[n - 2]) / 3.0;
        d[n - 1] += c[n - 2] / 3.0;
        fill(n - 2, c + 1, 0.0);
        SWAP(c, d);
    }
    for (long i = 0; i < n; i++) g[0][i] = c[i] + d[i];
    return value;
}

#define INSIDE(i, j) ((i) > 0 && (i) < n - 1 && (j) > 0 && (j) < n - 1 ? c[(i) * n + (j)] : 0.0)

static void gather_2d(long n, long i, long j, const double *c, double *d) {
    d[i * n + j] += 0.2 * (INSIDE(i, j) + INSIDE(i - 1, j) + INSIDE(i + 1, j) + INSIDE(i, j - 1) + INSIDE(i, j + 1));
}

/* s: n, steps */
double jacobi_2d(sizes s, arrays x, gradients g, double *w) {
    long n = s[0], all = n * n;
    double *a = w, *b = w + all, *c = w + 2 * all, *d = w + 3 * all;
    memcpy(a, x[0], all * sizeof(double));
    memcpy(b, x[0], all * sizeof(double));
    for (long t = 0; t < s[1]; t++) {
        for (long i = 1; i < n - 1; i++) {
            const double *restrict p = a + i * n;
            double *restrict q = b + i * n;
            for (long j = 1; j < n - 1; j++) q[j] = 0.2 * (p[j] + p[j - 1] + p[j + 1] + p[j + n] + p[j - n]);
        }
        SWAP(a, b);
    }
    double value = sum(all, a);
    fill(all, c, 1.0);
    fill(all, d, 0.0);
    for (long t = 0; t < s[1]; t++) {
        for (long i = 0; i < n; i++) {
            int is_middle = i >= 2 && i < n - 2;
            const double *restrict p = c + i * n;
            double *restrict q = d + i * n;
            long from = is_middle ? 2 : 0, to = is_middle ? n - 2 : 0;
            for (long j = 0; j < from; j++) gather_2d(n, i, j, c, d);
            for (long j = from; j < to; j++) q[j] += 0.2 * (p[j] + p[j - 1] + p[j + 1] + p[j + n] + p[j - n]);
            for (long j = to; j < n; j++) gather_2d(n, i, j, c, d);
        }
        for (long i = 1; i < n - 1; i++) fill(n - 2, c + i * n + 1, 0.0);
        SWAP(c, d);
    }
    for (long i = 0; i < all; i++) g[0][i] = c[i] + d[i];
    return value;
}

#define CELL(i, j, k)                                                                                       \
    ((i) > 0 && (i) < n - 1 && (j) > 0 && (j) < n - 1 && (k) > 0 && (k) < n - 1 ? c[((i) * n + (j)) * n + (k)] : 0.0)

static void gather_3d(long n, long i, long j, long k, const double *c, double *d) {
    double around = CELL(i - 1, j, k) + CELL(i + 1, j, k) + CELL(i, j - 1, k) + CELL(i, j + 1, k) +
                    CELL(i, j, k - 1) + CELL(i, j, k + 1);
    d[(i * n + j) * n + k] += 0.25 * CELL(i, j, k) + 0.125 * around;
}

/* s: n, steps */
double heat_3d(sizes s, arrays x, gradients g, double *w) {
    long n = s[0], m = n * n, all = n * n * n;
    double *a = w, *b = w + all, *c = w + 2 * all, *d = w + 3 * all;
    memcpy(a, x[0], all * sizeof(double));
    memcpy(b, x[0], all * sizeof(double));
    for (long t = 0; t < s[1]; t++) {
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++) {
                const double *restrict p = a + i * m + j * n;
                double *restrict q = b + i * m + j * n;
                for (long k = 1; k < n - 1; k++)
                    q[k] = 0.25 * p[k] + 0.125 * (p[k - m] + p[k + m] + p[k - n] + p[k + n] + p[k - 1] + p[k + 1]);
            }
        SWAP(a, b);
    }
    double value = sum(all, a);
    fill(all, c, 1.0);
    fill(all, d, 0.0);
    for (long t = 0; t < s[1]; t++) {
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++) {
                int is_middle = i >= 2 && i < n - 2 && j >= 2 && j < n - 2;
                const double *restrict p = c + i * m + j * n;
                double *restrict q = d + i * m + j * n;
                long from = is_middle ? 2 : 0, to = is_middle ? n - 2 : 0;
                for (long k = 0; k < from; k++) gather_3d(n, i, j, k, c, d);
                for (long k = from; k < to; k++)
                    q[k] += 0.25 * p[k] + 0.125 * (p[k - m] + p[k + m] + p[k - n] + p[k + n] + p[k - 1] + p[k + 1]);
                for (long k = to; k < n; k++) gather_3d(n, i, j, k, c, d);
            }
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++) fill(n - 2, c + i * m + j * n + 1, 0.0);
        SWAP(c, d);
    }
    for (long i = 0; i < all; i++) g[0][i] = c[i] + d[i];
    return value;
}

/* s: n, steps */
double seidel_2d(sizes s, arrays x, gradients g, double *w) {
    long n = s[0], all = n * n;
    double *a = w, *c = g[0];
    memcpy(a, x[0], all * sizeof(double));
    for (long t = 0; t < s[1]; t++)
        for (long i = 1; i < n - 1; i++) {
            double *p = a + i * n;
            for (long j = 1; j < n - 1; j++)
                p[j] += p[j - n - 1] + p[j - n] + p[j - n + 1] + p[j + 1] + p[j + n - 1] + p[j + n] + p[j + n + 1];
            for (long j = 1; j < n - 1; j++) p[j] = (p[j] + p[j - 1]) / 9.0;
        }
    fill(all, c, 1.0);
    for (long t = 0; t < s[1]; t++)
        for (long i = n - 2; i > 0; i--) {
            double *p = c + i * n;
            for (long j = n - 2; j > 0; j--) {
                p[j] /= 9.0;
                p[j - 1] += p[j];
            }
            double *restrict above = p - n, *restrict below = p + n;
            for (long j = 1; j < n - 1; j++) { above[j - 1] += p[j]; below[j - 1] += p[j]; }
            for (long j = 1; j < n - 1; j++) { above[j] += p[j]; below[j] += p[j]; }
            for (long j = 1; j < n - 1; j++) { above[j + 1] += p[j]; below[j + 1] += p[j]; }
            for (long j = n - 1; j > 1; j--) p[j] += p[j - 1];
        }
    return sum(all, a);
}

static double dot(long n, const double *restrict x, const double *restrict y) {
    double total = 0.0;
    for (long i = 0; i < n; i++) total += x[i] * y[i];
    return total;
}

static void axpy(long n, double factor, const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; i++) y[i] += factor * x[i];
}

/* s: n. The upper factor is also kept transposed (u), so is its adjoint (v). */
double lu(sizes s, arrays x, gradients g, double *w) {
    long n = s[0];
    double *a = w, *u = w + n * n, *v = w + 2 * n * n, *c = g[0];
    memcpy(a, x[0], n * n * sizeof(double));
    for (long i = 0; i < n; i++) {
        double *row = a + i * n;
        for (long j = 0; j < i; j++) row[j] = (row[j] - dot(j, row, u + j * n)) / a[j * n + j];
        for (long k = 0; k < i; k++) axpy(n - i, -row[k], a + k * n + i, row + i);
        for (long j = i; j < n; j++) u[j * n + i] = row[j];
    }
    fill(n * n, c, 1.0);
    fill(n * n, v, 0.0);
    for (long i = n - 1; i >= 0; i--) {
        double *row = a + i * n, *adjoint = c + i * n;
        for (long j = i; j < n; j++) adjoint[j] += v[j * n + i];
        for (long k = 0; k < i; k++) {
            adjoint[k] -= dot(n - i, adjoint + i, a + k * n + i);
            axpy(n - i, -row[k], adjoint + i, c + k * n + i);
        }
        for (long j = i - 1; j >= 0; j--) {
            double part = adjoint[j] / a[j * n + j];
            c[j * n + j] -= part * row[j];
            adjoint[j] = part;
            axpy(j, -part, u + j * n, adjoint);
            axpy(j, -part, row, v + j * n);
        }
    }
    return sum(n * n, a);
}

/* s: n */
double cholesky(sizes s, arrays x, gradients g, double *w) {
    long n = s[0];
    double *a = w, *c = g[0];
    memcpy(a, x[0], n * n * sizeof(double));
    for (long i = 0; i < n; i++) {
        double *row = a + i * n;
        for (long j = 0; j < i; j++) row[j] = (row[j] - dot(j, row, a + j * n)) / a[j * n + j];
        row[i] = sqrt(row[i] - dot(i, row, row));
    }
    fill(n * n, c, 1.0);
    for (long i = n - 1; i >= 0; i--) {
        double *row = a + i * n, *adjoint = c + i * n;
        adjoint[i] /= 2.0 * row[i];
        axpy(i, -2.0 * adjoint[i], row, adjoint);
        for (long j = i - 1; j >= 0; j--) {
            double part = adjoint[j] / a[j * n + j];
            c[j * n + j] -= part * row[j];
            adjoint[j] = part;
            axpy(j, -part, a + j * n, adjoint);
            axpy(j, -part, row, c + j * n);
        }
    }
    return sum(n * n, a);
}

/* s: n */
double trisolv(sizes s, arrays x, gradients g, double *w) {
    long n = s[0];
    const double *l = x[0], *b = x[1];
    double *y = w, *c = w + n, *dl = g[0], *db = g[1];
    for (long i = 0; i < n; i++) y[i] = (b[i] - dot(i, l + i * n, y)) / l[i * n + i];
    fill(n, c, 1.0);
    fill(n * n, dl, 0.0);
    for (long i = n - 1; i >= 0; i--) {
        db[i] = c[i] / l[i * n + i];
        dl[i * n + i] = -db[i] * y[i];
        axpy(i, -db[i], y, dl + i * n);
        axpy(i, -db[i], l + i * n, c);
    }
    return sum(n, y);
}

/* s: m, n. Columns are kept as rows; updates are undone on the way back. */
double gramschmidt(sizes s, arrays x, gradients g, double *w) {
    long m = s[0], n = s[1];
    double *a = w, *q = w + n * m, *r = w + 2 * n * m, *c = r + n * n, *e = c + n * m;
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++) a[j * m + i] = x[0][i * n + j];
    double value = 0.0;
    for (long k = 0; k < n; k++) {
        double size = sqrt(dot(m, a + k * m, a + k * m));
        r[k * n + k] = size;
        for (long i = 0; i < m; i++) q[k * m + i] = a[k * m + i] / size;
        for (long j = k + 1; j < n; j++) {
            r[k * n + j] = dot(m, q + k * m, a + j * m);
            axpy(m, -r[k * n + j], q + k * m, a + j * m);
        }
        value += sum(m, q + k * m) + sum(n - k, r + k * n + k);
    }
    fill(n * m, c, 0.0);
    for (long k = n - 1; k >= 0; k--) {
        double *restrict p = q + k * m;
        fill(m, e, 1.0);
        for (long j = n - 1; j > k; j--) {
            double *restrict b = a + j * m, *restrict d = c + j * m, part = r[k * n + j], back = 1.0 - dot(m, p, d);
            for (long i = 0; i < m; i++) {
                b[i] += part * p[i];
                e[i] += back * b[i] - part * d[i];
                d[i] += back * p[i];
            }
        }
        double size = r[k * n + k], back = 1.0 - dot(m, e, p) / size;
        for (long i = 0; i < m; i++) c[k * m + i] += e[i] / size + back * p[i];
    }
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++) g[0][i * n + j] = c[j * m + i];
    return value;
}

/* s: n. The solution is taken back step by step. */
double durbin(sizes s, arrays x, gradients g, double *w) {
    long n = s[0];
    const double *r = x[0];
    double *y = w, *old = w + n, *alphas = w + 2 * n, *betas = w + 3 * n, *c = w + 4 * n, *before = w + 5 * n;
    double *d = g[0], alpha = -r[0], beta = 1.0;
    y[0] = alphas[0] = alpha;
    betas[0] = beta;
    for (long k = 1; k < n; k++) {
        beta *= 1.0 - alpha * alpha;
        double total = r[k];
        for (long i = 0; i < k; i++) total += r[k - 1 - i] * y[i];
        alpha = -total / beta;
        for (long i = 0; i < k; i++) old[i] = y[i] + alpha * y[k - 1 - i];
        SWAP(y, old);
        y[k] = alphas[k] = alpha;
        betas[k] = beta;
    }
    double value = sum(n, y), dalpha = 0.0, dbeta = 0.0;
    fill(n, c, 1.0);
    fill(n, d, 0.0);
    for (long k = n - 1; k > 0; k--) {
        alpha = alphas[k];
        beta = betas[k];
        dalpha += c[k];
        double scale = 1.0 / (1.0 - alpha * alpha), part = 0.0;
        for (long i = 0; i < k; i++) {
            old[i] = (y[i] - alpha * y[k - 1 - i]) * scale;
            before[i] = c[i] + alpha * c[k - 1 - i];
        }
        for (long i = 0; i < k; i++) part += c[i] * old[k - 1 - i];
        dalpha += part;
        SWAP(y, old);
        double back = -dalpha / beta;
        d[k] += back;
        for (long i = 0; i < k; i++) {
            before[i] += back * r[k - 1 - i];
            d[i] += back * y[k - 1 - i];
        }
        SWAP(c, before);
        dbeta -= dalpha * alpha / beta;
        dalpha = -2.0 * alphas[k - 1] * betas[k - 1] * dbeta;
        dbeta *= 1.0 - alphas[k - 1] * alphas[k - 1];
    }
    d[0] -= dalpha + c[0];
    return value;
}

/* s: m, n; a, b: n x m, c: n x n */
double syr2k(sizes s, arrays x, gradients g, double *w) {
    long m = s[0], n = s[1];
    const double *a = x[0], *b = x[1];
    double *da = g[0], *db = g[1], *dc = g[2], *c = w;
    for (long i = 0; i < n; i++) {
        for (long j = 0; j <= i; j++)
            c[i * n + j] = 1.2 * x[2][i * n + j] + 1.5 * (dot(m, a + j * m, b + i * m) + dot(m, b + j * m, a + i * m));
        for (long j = i + 1; j < n; j++) c[i * n + j] = x[2][i * n + j];
    }
    fill(n * n, dc, 1.0);
    fill(n * m, da, 0.0);
    fill(n * m, db, 0.0);
    for (long i = 0; i < n; i++)
        for (long j = 0; j <= i; j++) {
            double part = 1.5 * dc[i * n + j];
            axpy(m, part, b + i * m, da + j * m);
            axpy(m, part, a + j * m, db + i * m);
            axpy(m, part, a + i * m, db + j * m);
            axpy(m, part, b + j * m, da + i * m);
            dc[i * n + j] *= 1.2;
        }
    return sum(n * n, c);
}

/* s: m, n */
double deriche(sizes s, arrays x, gradients g, double *w) {
    long m = s[0], n = s[1];
    double alpha = 0.25, e = exp(-alpha), k = (1.0 - e) * (1.0 - e) / (1.0 + 2.0 * alpha * e - exp(-2.0 * alpha));
    double a1 = k, a2 = k * e * (alpha - 1.0), a3 = k * e * (alpha + 1.0), a4 = -k * exp(-2.0 * alpha);
    double b1 = pow(2.0, -alpha), b2 = -exp(-2.0 * alpha), value = 0.0;
    double *smooth = w, *p = w + m * n, *q = w + 2 * m * n, *image = g[0];
    for (long i = 0; i < m; i++) {
        const double *in = x[0] + i * n;
        double *out = smooth + i * n, y1 = 0.0, y2 = 0.0, x1 = 0.0, x2 = 0.0;
        for (long j = 0; j < n; j++) {
            out[j] = a1 * in[j] + a2 * x1 + b1 * y1 + b2 * y2;
            x1 = in[j], y2 = y1, y1 = out[j];
        }
        x1 = y1 = y2 = 0.0;
        for (long j = n - 1; j >= 0; j--) {
            double y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
            x2 = x1, x1 = in[j], y2 = y1, y1 = y, out[j] += y;
        }
    }
    for (long i = 0; i < m; i++) {
        const double *in = smooth + i * n;
        double *restrict out = p + i * n;
        for (long j = 0; j < n; j++) {
            out[j] = a1 * in[j];
            if (i > 0) out[j] += a2 * in[j - n] + b1 * out[j - n];
            if (i > 1) out[j] += b2 * out[j - 2 * n];
        }
    }
    for (long i = m - 1; i >= 0; i--) {
        const double *in = smooth + i * n;
        double *restrict out = q + i * n;
        for (long j = 0; j < n; j++) {
            out[j] = 0.0;
            if (i < m - 1) out[j] += a3 * in[j + n] + b1 * out[j + n];
            if (i < m - 2) out[j] += a4 * in[j + 2 * n] + b2 * out[j + 2 * n];
        }
    }
    for (long i = 0; i < m * n; i++) value += p[i] + q[i];
    /* The adjoint of a recursion is the recursion run the other way: p and q now hold adjoints. */
    for (long i = m - 1; i >= 0; i--)
        for (long j = 0; j < n; j++) {
            p[i * n + j] = 1.0;
            if (i < m - 1) p[i * n + j] += b1 * p[(i + 1) * n + j];
            if (i < m - 2) p[i * n + j] += b2 * p[(i + 2) * n + j];
        }
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++) {
            q[i * n + j] = 1.0;
            if (i > 0) q[i * n + j] += b1 * q[(i - 1) * n + j];
            if (i > 1) q[i * n + j] += b2 * q[(i - 2) * n + j];
        }
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++) {
            double total = a1 * p[i * n + j];
            if (i < m - 1) total += a2 * p[(i + 1) * n + j];
            if (i > 0) total += a3 * q[(i - 1) * n + j];
            if (i > 1) total += a4 * q[(i - 2) * n + j];
            smooth[i * n + j] = total;
        }
    for (long i = 0; i < m; i++) {
        const double *c = smooth + i * n;
        double *out = image + i * n, y1 = 0.0, y2 = 0.0, z1 = 0.0, z2 = 0.0;
        for (long j = n - 1; j >= 0; j--) {
            double y = c[j] + b1 * y1 + b2 * y2;
            out[j] = a1 * y + a2 * y1;
            y2 = y1, y1 = y;
        }
        for (long j = 0; j < n; j++) {
            out[j] += a3 * z1 + a4 * z2;
            double z = c[j] + b1 * z1 + b2 * z2;
            z2 = z1, z1 = z;
        }
    }
    return value;
}

/* s: steps */
double garch(sizes s, arrays x, gradients g, double *w) {
    long steps = s[0];
    double omega = x[0][0], alpha = x[0][1], beta = x[0][2], variance = x[0][3], value = 0.0;
    const double *r = x[1];
    for (long t = 0; t < steps; t++) {
        w[t] = variance;
        value += 0.5 * (log(variance) + r[t] * r[t] / variance);
        variance = omega + alpha * r[t] * r[t] + beta * variance;
    }
    double back = 0.0, d[4] = {0.0, 0.0, 0.0, 0.0};
    for (long t = steps - 1; t >= 0; t--) {
        d[0] += back;
        d[1] += back * r[t] * r[t];
        d[2] += back * w[t];
        back = beta * back + 0.5 * (1.0 - r[t] * r[t] / w[t]) / w[t];
    }
    d[3] = back;
    memcpy(g[0], d, sizeof d);
    return value;
}
