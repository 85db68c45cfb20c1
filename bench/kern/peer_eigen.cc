// Eigen: the affine as an array expression. Called from peer_eigen.c.
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>

using Eigen::ArrayXf;
using Eigen::Dynamic;
using Eigen::Index;
using Eigen::Map;
template <typename T> using Columns = Eigen::Array<T, Dynamic, Dynamic>;
template <typename T> using Column = Eigen::Array<T, Dynamic, 1>;

namespace {

template <typename T, typename E> auto as_codes(const E &value, float lo, float hi) {
    return value.rint().max(lo).min(hi).template cast<T>();
}

template <typename T, typename Store>
void planes(const void *x, void *y, const float *scale, const float *bias, const size_t *nch, Store store) {
    const Index plane = static_cast<Index>(nch[2]);
    for (size_t k = 0; k < nch[0] * nch[1]; k++) {
        Map<const Column<T>> in(static_cast<const T *>(x) + k * nch[2], plane);
        Map<Column<T>> out(static_cast<T *>(y) + k * nch[2], plane);
        store(out, in.template cast<float>() * scale[k % nch[1]] + bias[k % nch[1]]);
    }
}

template <typename T, typename Store>
void pixels(const void *x, void *y, const float *scale, const float *bias, const size_t *nch, Store store) {
    const Index c = static_cast<Index>(nch[1]), count = static_cast<Index>(nch[0] * nch[2]);
    Map<const ArrayXf> slopes(scale, c), shifts(bias, c);
    Map<const Columns<T>> in(static_cast<const T *>(x), c, count);
    Map<Columns<T>> out(static_cast<T *>(y), c, count);
    store(out, (in.template cast<float>().colwise() * slopes).colwise() + shifts);
}

template <typename T, typename Store>
void run(const void *x, void *y, const float *scale, const float *bias, const size_t *nch, int is_pixels, Store store) {
    if (is_pixels) {
        pixels<T>(x, y, scale, bias, nch, store);
    } else {
        planes<T>(x, y, scale, bias, nch, store);
    }
}

} // namespace

// nch: images, channels, elements of a plane. elem as in row.h.
extern "C" void bench_eigen(int elem, const void *x, void *y, const float *scale, const float *bias, const size_t *nch,
                            int is_pixels) {
    if (elem == 0) {
        run<float>(x, y, scale, bias, nch, is_pixels, [](auto &out, const auto &value) { out = value; });
    } else if (elem == 1) {
        run<int8_t>(x, y, scale, bias, nch, is_pixels,
                    [](auto &out, const auto &value) { out = as_codes<int8_t>(value, -128, 127); });
    } else {
        run<int16_t>(x, y, scale, bias, nch, is_pixels,
                     [](auto &out, const auto &value) { out = as_codes<int16_t>(value, -32768, 32767); });
    }
}

extern "C" const char *bench_eigen_version(void) {
#define TEXT_OF(x)  #x
#define TEXT(x)     TEXT_OF(x)
    return TEXT(EIGEN_WORLD_VERSION) "." TEXT(EIGEN_MAJOR_VERSION) "." TEXT(EIGEN_MINOR_VERSION);
}
