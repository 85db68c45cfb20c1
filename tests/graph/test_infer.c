/* Shape inference: each row is a small graph whose output shapes follow, by hand, from the operator's specification
 * (Operators.md and Changelog.md of onnx 1.17, the TFLite kernels' documentation). Extents of one tensor differ
 * wherever the rule lets them, so that an exchanged axis changes the result. */
#include "rows.h"

#include "graph/passes.h"

typedef struct {
    const char *name;
    const char *body;
    const char *shape[3]; /* of values y, z, w: "float32[1,2]"; null is not looked at */
} Case;

static const Case cases[] = {
    /* Convolutions: (in + pads - ((k-1)*dilation+1)) / stride + 1 */
    {"conv valid",
     "format onnx 13\ninput x float32[1,3,10,12]\nconst w float32[5,3,3,2] = splat 0\n"
     "node Conv: x w -> y\noutput y\n",
     {"float32[1,5,8,11]"}},
    {"conv pads strides dilations",
     "format onnx 13\ninput x float32[1,4,10,13]\nconst w float32[6,2,3,3] = splat 0\nconst b float32[6] = splat 0\n"
     "node Conv: x w b -> y group=2 pads=[1,0,2,1] strides=[2,3] dilations=[2,1]\noutput y\n",
     {"float32[1,6,5,4]"}},
    {"conv same",
     "format onnx 13\ninput x float32[1,3,10,11]\nconst w float32[5,3,3,3] = splat 0\n"
     "node Conv: x w -> y auto_pad=SAME_UPPER strides=[2,3]\noutput y\n",
     {"float32[1,5,5,4]"}},
    {"conv 1d",
     "format onnx 13\ninput x float32[2,3,10]\nconst w float32[5,3,4] = splat 0\n"
     "node Conv: x w -> y\noutput y\n",
     {"float32[2,5,7]"}},
    {"conv tflite",
     "format tflite\ninput x int8[1,10,12,3]\nconst w int8[5,3,2,3] = splat 0\n"
     "node Conv: x w _ -> y auto_pad=VALID strides=[2,1] dilations=[1,1]\noutput y\nvalue y int8\n",
     {"int8[1,4,11,5]"}},
    {"depthwise tflite",
     "format tflite\ninput x int8[1,10,12,3]\nconst w int8[1,3,2,6] = splat 0\n"
     "node tflite.DEPTHWISE_CONV_2D: x w -> y auto_pad=SAME_UPPER strides=[2,2] depth_multiplier=2\n"
     "output y\nvalue y int8\n",
     {"int8[1,5,6,6]"}},
    /* (in-1)*stride + output_padding + (k-1)*dilation + 1 - pads */
    {"conv transpose",
     "format onnx 13\ninput x float32[1,4,5,7]\nconst w float32[4,3,3,2] = splat 0\n"
     "node ConvTranspose: x w -> y strides=[2,3] output_padding=[1,0] pads=[1,0,0,1] group=2\n"
     "output y\n",
     {"float32[1,6,11,19]"}},
    {"conv transpose output_shape",
     "format onnx 13\ninput x float32[1,4,5,7]\nconst w float32[4,3,3,3] = splat 0\n"
     "node ConvTranspose: x w -> y strides=[3,2] output_shape=[16,15]\noutput y\n",
     {"float32[1,3,16,15]"}},
    {"conv transpose same",
     "format onnx 13\ninput x float32[1,4,5,7]\nconst w float32[4,3,3,3] = splat 0\n"
     "node ConvTranspose: x w -> y strides=[3,2] auto_pad=SAME_LOWER\noutput y\n",
     {"float32[1,3,15,14]"}},
    {"transpose conv tflite",
     "format tflite\nconst s int32[4] = 1 9 11 6\nconst w int8[6,3,3,4] = splat 0\n"
     "input x int8[1,4,5,4]\nnode tflite.TRANSPOSE_CONV: s w x -> y strides=[2,2] "
     "auto_pad=VALID\noutput y\nvalue y int8\n",
     {"int8[1,9,11,6]"}},
    {"qlinear conv",
     "format onnx 13\ninput x uint8[1,3,6,7]\nconst s float32[] = 1\nconst z uint8[] = 0\n"
     "const w int8[4,3,3,3] = splat 1\nconst v int8[] = 0\nconst o int8[] = 0\n"
     "node QLinearConv: x s z w s v s o -> y\noutput y\n",
     {"int8[1,4,4,5]"}},
    {"pool",
     "format onnx 13\ninput x float32[1,3,10,11]\nnode MaxPool: x -> y z kernel_shape=[3,2] strides=[2,2]\n"
     "output y\noutput z\n",
     {"float32[1,3,4,5]", "int64[1,3,4,5]"}},
    {"pool ceil",
     "format onnx 13\ninput x float32[1,3,10,11]\n"
     "node AveragePool: x -> y kernel_shape=[3,2] strides=[2,2] ceil_mode=1\noutput y\n",
     {"float32[1,3,5,6]"}},
    /* The window that would start in the padding behind the input does not count: 4 elements, kernel 1, stride 2, one
     * pad on either side: positions -1, 1, 3 and not 5. */
    {"pool ceil starts outside",
     "format onnx 13\ninput x float32[1,3,4]\n"
     "node MaxPool: x -> y kernel_shape=[2] strides=[3] pads=[1,1] ceil_mode=1\noutput y\n",
     {"float32[1,3,2]"}},
    {"pool tflite",
     "format tflite\ninput x int8[1,10,11,3]\n"
     "node MaxPool: x -> y kernel_shape=[2,3] strides=[2,3] auto_pad=SAME_UPPER\noutput y\nvalue y int8\n",
     {"int8[1,5,4,3]"}},
    {"global pool",
     "format onnx 13\ninput x float32[2,3,4,5,6]\nnode GlobalAveragePool: x -> y\noutput y\n",
     {"float32[2,3,1,1,1]"}},

    /* Broadcasting */
    {"add",
     "format onnx 13\ninput a float32[2,1,4]\ninput b float32[3,1]\nnode Add: a b -> y\noutput y\n",
     {"float32[2,3,4]"}},
    {"add constant with batch", /* case C7 */
     "format onnx 13\ninput a float32[1,3,4,5]\nconst b float32[3,4,5] = splat 1\nnode Add: a b -> y\noutput y\n",
     {"float32[1,3,4,5]"}},
    {"sub swapped", /* case B12 */
     "format onnx 13\nconst b float32[4] = 10 20 30 40\ninput x float32[1,1,1,4]\nnode Sub: b x -> y\noutput y\n",
     {"float32[1,1,1,4]"}},
    {"add zero-size", /* case J5 */
     "format onnx 13\ninput a float32[1,0,4,4]\nconst b float32[0,1,1] =\nnode Add: a b -> y\noutput y\n",
     {"float32[1,0,4,4]"}},
    {"add legacy axis",
     "format onnx 6\ninput a float32[2,3,4,5]\nconst b float32[3] = splat 1\n"
     "node Add@6: a b -> y broadcast=1 axis=1\noutput y\n",
     {"float32[2,3,4,5]"}},
    {"add legacy suffix",
     "format onnx 6\ninput a float32[2,3,4,5]\nconst b float32[4,5] = splat 1\n"
     "node Add@6: a b -> y broadcast=1\noutput y\n",
     {"float32[2,3,4,5]"}},
    {"less",
     "format onnx 13\ninput a float32[2,3]\ninput b float32[3]\nnode Less: a b -> y\noutput y\n",
     {"bool[2,3]"}},
    {"where",
     "format onnx 13\ninput c bool[3,1]\ninput a int8[4]\ninput b int8[2,1,1]\nnode Where: c a b -> y\n"
     "output y\n",
     {"int8[2,3,4]"}},
    {"sum of many",
     "format onnx 13\ninput a float32[2,1]\ninput b float32[3]\ninput c float32[4,1,1]\n"
     "node Sum: a b c -> y\noutput y\n",
     {"float32[4,2,3]"}},
    {"prelu",
     "format onnx 13\ninput x float32[1,3,4,5]\nconst s float32[3,1,1] = splat 0\nnode PRelu: x s -> y\n"
     "output y\n",
     {"float32[1,3,4,5]"}},
    {"prelu legacy",
     "format onnx 6\ninput x float32[1,3,4,5]\nconst s float32[3] = splat 0\nnode PRelu@6: x s -> y\n"
     "output y\n",
     {"float32[1,3,4,5]"}},
    {"cast", "format onnx 13\ninput x float32[2]\nnode Cast: x -> y to=7\noutput y\n", {"int64[2]"}},
    {"cast word", "format onnx 1\ninput x float32[2]\nnode Cast@1: x -> y to=\"DOUBLE\"\noutput y\n", {"float64[2]"}},
    {"dropout",
     "format onnx 13\ninput x float32[2,3]\nnode Dropout@13: x -> y z\noutput y\noutput z\n",
     {"float32[2,3]", "bool[2,3]"}},

    /* Quantisation */
    {"dequantize scale [1], rank 1, default axis", /* case C1 */
     "format onnx 13\ninput x int8[16]\nconst s float32[1] = 0.5\nconst z int8[1] = 0\n"
     "node DequantizeLinear: x s z -> y\noutput y\n",
     {"float32[16]"}},
    {"dequantize per axis",
     "format onnx 13\ninput x int8[2,3,4]\nconst s float32[4] = splat 1\n"
     "node DequantizeLinear: x s -> y axis=-1\noutput y\n",
     {"float32[2,3,4]"}},
    {"dequantize blocked", /* case B11 */
     "format onnx 21\ninput x int8[2,6]\nconst s float32[2,2] = 1 2 0.5 0.25\n"
     "node DequantizeLinear@21: x s -> y block_size=3\noutput y\n",
     {"float32[2,6]"}},
    {"dequantize to a stated type", /* since opset 23 */
     "format onnx 23\ninput x int8[4]\nconst s float32[] = 1\nnode DequantizeLinear: x s -> y output_dtype=10\n"
     "output y\n",
     {"float16[4]"}},
    {"quantize default",
     "format onnx 13\ninput x float32[2,3]\nconst s float32[] = 1\nnode QuantizeLinear: x s -> y\n"
     "output y\n",
     {"uint8[2,3]"}},
    {"quantize zero point",
     "format onnx 13\ninput x float32[2,3]\nconst s float32[] = 1\nconst z int8[] = 0\n"
     "node QuantizeLinear: x s z -> y\noutput y\n",
     {"int8[2,3]"}},
    {"dynamic quantize",
     "format onnx 13\ninput x float32[2,3]\nnode DynamicQuantizeLinear: x -> y z w\noutput y\n"
     "output z\noutput w\n",
     {"uint8[2,3]", "float32[]", "uint8[]"}},

    /* Normalisation */
    {"batch norm", /* cases B8, C4 */
     "format onnx 13\ninput x float32[1,6,7,7]\nconst p float32[6] = splat 1\n"
     "node BatchNormalization: x p p p p -> y\noutput y\n",
     {"float32[1,6,7,7]"}},
    {"batch norm rank 2",
     "format onnx 13\ninput x float32[3,5]\nconst p float32[5] = splat 1\n"
     "node BatchNormalization: x p p p p -> y\noutput y\n",
     {"float32[3,5]"}},
    {"batch norm axis list", /* case D10 */
     "format onnx 13\ninput x float32[1,7,7,6]\nconst p float32[6] = splat 1\n"
     "node BatchNormalization: x p p p p -> y axis=[3]\noutput y\n",
     {"float32[1,7,7,6]"}},
    {"batch norm axis -1",
     "format onnx 13\ninput x float32[1,7,7,6]\nconst p float32[6] = splat 1\n"
     "node BatchNormalization: x p p p p -> y axis=-1\noutput y\n",
     {"float32[1,7,7,6]"}},
    {"batch norm zero channels", /* case J5 */
     "format onnx 13\ninput x float32[1,0,4,4]\nconst p float32[0] =\nnode BatchNormalization: x p p p p -> y\n"
     "output y\n",
     {"float32[1,0,4,4]"}},
    {"layer norm",
     "format onnx 17\ninput x float32[2,3,4]\nconst p float32[3,4] = splat 1\n"
     "node LayerNormalization: x p p -> y z axis=1\noutput y\noutput z\n",
     {"float32[2,3,4]", "float32[2,1,1]"}},

    /* Matrix products */
    {"matmul",
     "format onnx 13\ninput a float32[2,1,3,4]\ninput b float32[5,4,6]\nnode MatMul: a b -> y\noutput y\n",
     {"float32[2,5,3,6]"}},
    {"matmul vector left",
     "format onnx 13\ninput a float32[4]\ninput b float32[5,4,6]\nnode MatMul: a b -> y\noutput y\n",
     {"float32[5,6]"}},
    {"matmul vector right",
     "format onnx 13\ninput a float32[2,3,4]\ninput b float32[4]\nnode MatMul: a b -> y\noutput y\n",
     {"float32[2,3]"}},
    {"gemm transposed",
     "format onnx 13\ninput a float32[4,3]\ninput b float32[5,4]\nconst c float32[5] = splat 0\n"
     "node Gemm: a b c -> y transA=1 transB=1\noutput y\n",
     {"float32[3,5]"}},
    {"matmul integer",
     "format onnx 13\ninput a uint8[2,3]\ninput b int8[3,4]\nnode MatMulInteger: a b -> y\noutput y\n",
     {"int32[2,4]"}},
    {"einsum",
     "format onnx 13\ninput a float32[2,3,4]\ninput b float32[2,4,5]\n"
     "node Einsum: a b -> y equation=\"bij, bjk -> bik\"\noutput y\n",
     {"float32[2,3,5]"}},
    {"einsum dots",
     "format onnx 13\ninput a float32[7,2,3,4]\ninput b float32[2,4,5]\n"
     "node Einsum: a b -> y equation=\"...ij,...jk->k...i\"\noutput y\n",
     {"float32[5,7,2,3]"}},
    {"einsum implicit",
     "format onnx 13\ninput a float32[4,3]\ninput b float32[4,2]\n"
     "node Einsum: a b -> y equation=\"zb,za\"\noutput y\n",
     {"float32[2,3]"}},
    {"fully connected",
     "format tflite\ninput x int8[2,3,4]\nconst w int8[5,6] = splat 1\n"
     "node tflite.FULLY_CONNECTED: x w -> y\noutput y\nvalue y int8\n",
     {"int8[4,5]"}},
    {"fully connected keeps",
     "format tflite\ninput x int8[2,3,4]\nconst w int8[5,4] = splat 1\n"
     "node tflite.FULLY_CONNECTED: x w -> y keep_num_dims=1\noutput y\nvalue y int8\n",
     {"int8[2,3,5]"}},
    {"batch matmul adjoint",
     "format tflite\ninput a float32[2,4,3]\ninput b float32[2,5,4]\n"
     "node tflite.BATCH_MATMUL: a b -> y adj_x=1 adj_y=1\noutput y\nvalue y float32\n",
     {"float32[2,3,5]"}},

    /* Reductions */
    {"reduce attribute",
     "format onnx 11\ninput x float32[2,3,4]\nnode ReduceMean@11: x -> y axes=[-1,0]\noutput y\n",
     {"float32[1,3,1]"}},
    {"reduce input",
     "format onnx 18\ninput x float32[2,3,4]\nconst a int64[1] = 1\n"
     "node ReduceSum@18: x a -> y keepdims=0\noutput y\n",
     {"float32[2,4]"}},
    {"reduce all",
     "format onnx 13\ninput x float32[2,3,4]\nnode ReduceMax: x -> y keepdims=0\noutput y\n",
     {"float32[]"}},
    {"reduce noop",
     "format onnx 18\ninput x float32[2,3]\nnode ReduceSum@18: x -> y noop_with_empty_axes=1\noutput y\n",
     {"float32[2,3]"}},
    {"mean tflite",
     "format tflite\ninput x int8[1,3,4,5]\nconst a int32[2] = 1 2\nnode ReduceMean: x a -> y\n"
     "output y\nvalue y int8\n",
     {"int8[1,5]"}},
    {"argmax",
     "format onnx 13\ninput x float32[2,3,4]\nnode ArgMax: x -> y axis=1 keepdims=0\noutput y\n",
     {"int64[2,4]"}},
    {"topk",
     "format onnx 11\ninput x float32[2,3,7]\nconst k int64[1] = 4\nnode TopK@11: x k -> y z\noutput y\noutput z\n",
     {"float32[2,3,4]", "int64[2,3,4]"}},
    {"topk attribute",
     "format onnx 1\ninput x float32[5,3]\nnode TopK@1: x -> y z k=2 axis=0\noutput y\noutput z\n",
     {"float32[2,3]", "int64[2,3]"}},

    /* Reshapes */
    {"reshape",
     "format onnx 13\ninput x float32[2,3,4]\nconst s int64[3] = 0 -1 2\nnode Reshape: x s -> y\noutput y\n",
     {"float32[2,6,2]"}},
    {"reshape attribute",
     "format onnx 1\ninput x float32[2,3,4]\nnode Reshape@1: x -> y shape=[4,6]\noutput y\n",
     {"float32[4,6]"}},
    {"reshape allowzero",
     "format onnx 14\ninput x float32[0,3]\nconst s int64[2] = 5 0\n"
     "node Reshape@14: x s -> y allowzero=1\noutput y\n",
     {"float32[5,0]"}},
    {"reshape tflite",
     "format tflite\ninput x int8[2,6]\nnode Reshape: x -> y new_shape=[3,-1]\noutput y\nvalue y int8\n",
     {"int8[3,4]"}},
    {"flatten",
     "format onnx 13\ninput x float32[2,3,4,5]\nnode Flatten: x -> y axis=-2\noutput y\n",
     {"float32[6,20]"}},
    {"flatten 0", "format onnx 13\ninput x float32[2,3]\nnode Flatten: x -> y axis=0\noutput y\n", {"float32[1,6]"}},
    {"squeeze all", "format onnx 13\ninput x float32[1,3,1]\nnode Squeeze: x -> y\noutput y\n", {"float32[3]"}},
    {"squeeze axes",
     "format onnx 11\ninput x float32[1,3,1]\nnode Squeeze@11: x -> y axes=[-1]\noutput y\n",
     {"float32[1,3]"}},
    {"unsqueeze input",
     "format onnx 13\ninput x float32[3,4]\nconst a int64[2] = -1 0\nnode Unsqueeze: x a -> y\noutput y\n",
     {"float32[1,3,4,1]"}},
    {"expand dims",
     "format tflite\ninput x int8[3,4]\nconst a int32[] = 1\nnode Unsqueeze: x a -> y\noutput y\nvalue y int8\n",
     {"int8[3,1,4]"}},
    {"transpose", "format onnx 13\ninput x float32[2,3,4]\nnode Transpose: x -> y\noutput y\n", {"float32[4,3,2]"}},
    {"transpose perm",
     "format onnx 13\ninput x float32[2,3,4]\nnode Transpose: x -> y perm=[1,2,0]\noutput y\n",
     {"float32[3,4,2]"}},
    {"transpose input",
     "format tflite\ninput x int8[2,3,4]\nconst p int32[3] = 2 0 1\nnode Transpose: x p -> y\noutput y\n"
     "value y int8\n",
     {"int8[4,2,3]"}},
    {"depth to space",
     "format onnx 13\ninput x float32[1,8,3,5]\nnode DepthToSpace: x -> y blocksize=2\noutput y\n",
     {"float32[1,2,6,10]"}},
    {"depth to space tflite",
     "format tflite\ninput x int8[1,3,5,8]\nnode DepthToSpace: x -> y block_size=2\noutput y\n"
     "value y int8\n",
     {"int8[1,6,10,2]"}},
    {"space to depth",
     "format onnx 13\ninput x float32[1,2,6,10]\nnode SpaceToDepth: x -> y blocksize=2\noutput y\n",
     {"float32[1,8,3,5]"}},
    {"space to batch",
     "format tflite\ninput x int8[1,5,6,3]\nconst b int32[2] = 2 3\nconst p int32[2,2] = 1 0 0 3\n"
     "node tflite.SPACE_TO_BATCH_ND: x b p -> y\noutput y\nvalue y int8\n",
     {"int8[6,3,3,3]"}},
    {"batch to space",
     "format tflite\ninput x int8[6,3,3,3]\nconst b int32[2] = 2 3\nconst p int32[2,2] = 1 0 0 3\n"
     "node tflite.BATCH_TO_SPACE_ND: x b p -> y\noutput y\nvalue y int8\n",
     {"int8[1,5,6,3]"}},

    /* Parts */
    {"slice attributes",
     "format onnx 1\ninput x float32[5,6,7]\n"
     "node Slice@1: x -> y axes=[0,2] starts=[1,-3] ends=[9223372036854775807,-1]\noutput y\n",
     {"float32[4,6,2]"}},
    {"slice backwards",
     "format onnx 13\ninput x float32[5,7]\nconst s int64[1] = -1\n"
     "const e int64[1] = -9223372036854775808\nconst a int64[1] = 1\nconst t int64[1] = -2\n"
     "node Slice: x s e a t -> y\noutput y\n",
     {"float32[5,4]"}},
    {"slice empty",
     "format onnx 13\ninput x float32[5,6]\nconst s int64[1] = 4\nconst e int64[1] = 2\n"
     "node Slice: x s e -> y\noutput y\n",
     {"float32[0,6]"}},
    {"slice size",
     "format tflite\ninput x int8[5,6]\nconst b int32[2] = 1 2\nconst s int32[2] = -1 3\n"
     "node tflite.SLICE: x b s -> y\noutput y\nvalue y int8\n",
     {"int8[4,3]"}},
    {"strided slice", /* shrinks axis 0, all of axis 1, every second of axis 2 */
     "format tflite\ninput x int8[4,5,6]\nconst b int32[3] = 1 0 1\nconst e int32[3] = 2 0 6\nconst s int32[3] = 1 1 "
     "2\n"
     "node tflite.STRIDED_SLICE: x b e s -> y begin_mask=2 end_mask=2 shrink_axis_mask=1\noutput y\nvalue y int8\n",
     {"int8[5,3]"}},
    {"strided slice ellipsis and new axis",
     "format tflite\ninput x int8[4,5,6]\nconst b int32[3] = 0 0 2\nconst e int32[3] = 0 0 4\nconst s int32[3] = 1 1 "
     "1\n"
     "node tflite.STRIDED_SLICE: x b e s -> y ellipsis_mask=2 new_axis_mask=1\noutput y\nvalue y int8\n",
     {"int8[1,4,5,2]"}},
    {"split equal",
     "format onnx 13\ninput x float32[6,2]\nnode Split: x -> y z w\noutput y\noutput z\noutput w\n",
     {"float32[2,2]", "float32[2,2]", "float32[2,2]"}},
    {"split sizes",
     "format onnx 13\ninput x float32[2,6]\nconst s int64[2] = 4 2\nnode Split: x s -> y z axis=-1\n"
     "output y\noutput z\n",
     {"float32[2,4]", "float32[2,2]"}},
    {"split uneven",
     "format onnx 18\ninput x float32[7]\nnode Split@18: x -> y z w num_outputs=3\noutput y\noutput z\n"
     "output w\n",
     {"float32[3]", "float32[3]", "float32[1]"}},
    {"split tflite",
     "format tflite\nconst a int32[] = 1\ninput x int8[2,6]\nnode tflite.SPLIT: a x -> y z\noutput y\n"
     "output z\nvalue y int8\nvalue z int8\n",
     {"int8[2,3]", "int8[2,3]"}},
    {"split v",
     "format tflite\ninput x int8[2,7]\nconst s int32[2] = 4 -1\nconst a int32[] = 1\n"
     "node tflite.SPLIT_V: x s a -> y z\noutput y\noutput z\nvalue y int8\nvalue z int8\n",
     {"int8[2,4]", "int8[2,3]"}},
    {"unpack",
     "format tflite\ninput x int8[4,2,3]\nnode tflite.UNPACK: x -> y z axis=1\noutput y\noutput z\n"
     "value y int8\nvalue z int8\n",
     {"int8[4,3]", "int8[4,3]"}},
    {"concat",
     "format onnx 13\ninput a float32[2,3]\ninput b float32[2,4]\nnode Concat: a b -> y axis=-1\noutput y\n",
     {"float32[2,7]"}},
    {"concat legacy axis",
     "format onnx 1\ninput a float32[2,3]\ninput b float32[2,4]\nnode Concat@1: a b -> y\noutput y\n",
     {"float32[2,7]"}},
    {"pack",
     "format tflite\ninput a int8[2,3]\ninput b int8[2,3]\nnode tflite.PACK: a b -> y axis=1\noutput y\n"
     "value y int8\n",
     {"int8[2,2,3]"}},
    {"pad attribute",
     "format onnx 2\ninput x float32[2,3]\nnode Pad@2: x -> y pads=[0,1,2,3]\noutput y\n",
     {"float32[4,7]"}},
    {"pad axes",
     "format onnx 18\ninput x float32[2,3,4]\nconst p int64[2] = 1 -2\nconst a int64[1] = -1\n"
     "node Pad@18: x p _ a -> y\noutput y\n",
     {"float32[2,3,3]"}},
    {"pad tflite",
     "format tflite\ninput x int8[2,3]\nconst p int32[2,2] = 0 1 2 3\nnode Pad: x p -> y\noutput y\n"
     "value y int8\n",
     {"int8[3,8]"}},
    {"expand",
     "format onnx 13\ninput x float32[3,1]\nconst s int64[3] = 2 1 6\nnode Expand: x s -> y\noutput y\n",
     {"float32[2,3,6]"}},
    {"tile",
     "format onnx 13\ninput x float32[2,3]\nconst r int64[2] = 3 2\nnode Tile: x r -> y\noutput y\n",
     {"float32[6,6]"}},
    {"tile opset 1",
     "format onnx 1\ninput x float32[2,3]\nconst r int64[] = 3\nconst a int64[] = 1\nnode Tile@1: x r a -> y\n"
     "output y\n",
     {"float32[2,9]"}},

    /* Resampling */
    {"resize sizes",
     "format onnx 13\ninput x float32[1,2,3,4]\nconst s int64[4] = 1 2 6 5\nnode Resize: x _ _ s -> y\n"
     "output y\n",
     {"float32[1,2,6,5]"}},
    {"resize scales",
     "format onnx 13\ninput x float32[1,2,3,5]\nconst s float32[4] = 1 1 2.5 0.5\n"
     "node Resize: x _ s -> y\noutput y\n",
     {"float32[1,2,7,2]"}},
    {"resize not larger", /* scales 2 and 3 are asked for; 2 serves both */
     "format onnx 18\ninput x float32[1,1,3,4]\nconst s int64[2] = 6 12\n"
     "node Resize@18: x _ _ s -> y axes=[2,3] keep_aspect_ratio_policy=not_larger\noutput y\n",
     {"float32[1,1,6,8]"}},
    {"upsample attribute",
     "format onnx 7\ninput x float32[1,2,3,4]\nnode Upsample@7: x -> y scales=[1.0,1.0,2.0,3.0]\n"
     "output y\n",
     {"float32[1,2,6,12]"}},
    {"upsample input",
     "format onnx 9\ninput x float32[1,2,3,4]\nconst s float32[4] = 1 1 2 3\nnode Upsample@9: x s -> y\n"
     "output y\n",
     {"float32[1,2,6,12]"}},
    {"resize bilinear",
     "format tflite\ninput x int8[1,3,4,2]\nconst s int32[2] = 6 5\n"
     "node tflite.RESIZE_BILINEAR: x s -> y\noutput y\nvalue y int8\n",
     {"int8[1,6,5,2]"}},

    /* Look-ups */
    {"gather",
     "format onnx 13\ninput x float32[2,3,4]\ninput i int64[5,6]\nnode Gather: x i -> y axis=1\noutput y\n",
     {"float32[2,5,6,4]"}},
    {"gather scalar",
     "format onnx 13\ninput x float32[2,3]\nconst i int64[] = 1\nnode Gather: x i -> y\noutput y\n",
     {"float32[3]"}},
    {"gather batch",
     "format tflite\ninput x int8[2,3,4]\ninput i int32[2,5]\nnode Gather: x i -> y axis=1 batch_dims=1\n"
     "output y\nvalue y int8\n",
     {"int8[2,5,4]"}},
    {"gather nd",
     "format onnx 13\ninput x float32[2,3,4,5]\ninput i int64[2,6,2]\nnode GatherND: x i -> y batch_dims=1\n"
     "output y\n",
     {"float32[2,6,5]"}},
    {"gather elements",
     "format onnx 13\ninput x float32[2,3]\ninput i int64[2,7]\nnode GatherElements: x i -> y axis=1\n"
     "output y\n",
     {"float32[2,7]"}},
    {"one hot",
     "format onnx 11\ninput i int64[2,3]\nconst d int64[] = 7\nconst v int8[2] = 0 1\n"
     "node OneHot: i d v -> y axis=1\noutput y\n",
     {"int8[2,7,3]"}},
    {"compress",
     "format onnx 11\ninput x float32[2,4]\nconst c bool[3] = 1 0 1\nnode Compress: x c -> y axis=1\noutput y\n",
     {"float32[2,2]"}},

    /* Generators */
    {"constant of shape",
     "format onnx 13\nconst s int64[3] = 2 0 4\nnode ConstantOfShape: s -> y\noutput y\n",
     {"float32[2,0,4]"}},
    {"shape window",
     "format onnx 15\ninput x float32[2,3,4,5]\nnode Shape@15: x -> y start=1 end=-1\noutput y\n",
     {"int64[2]"}},
    {"range",
     "format onnx 13\nconst a int64[] = 10\nconst b int64[] = 4\nconst d int64[] = -4\nnode Range: a b d -> y\noutput "
     "y\n",
     {"int64[2]"}},
    {"range float",
     "format onnx 13\nconst a float32[] = 0\nconst b float32[] = 1\nconst d float32[] = 0.25\n"
     "node Range: a b d -> y\noutput y\n",
     {"float32[4]"}},
    {"eye like", "format onnx 13\ninput x int32[3,4]\nnode EyeLike: x -> y dtype=11\noutput y\n", {"float64[3,4]"}},
    {"fill",
     "format tflite\nconst s int32[2] = 3 4\ninput v float32\nnode tflite.FILL: s v -> y\noutput y\nvalue y float32\n",
     {"float32[3,4]"}},

    /* Recurrent layers */
    {"lstm",
     "format onnx 14\ninput x float32[7,2,3]\nconst w float32[2,20,3] = splat 0\nconst r float32[2,20,5] = splat 0\n"
     "node LSTM: x w r -> y z w2 direction=bidirectional hidden_size=5\noutput y\noutput z\n",
     {"float32[7,2,2,5]", "float32[2,2,5]"}},
    {"gru batch first",
     "format onnx 14\ninput x float32[2,7,3]\nconst w float32[1,15,3] = splat 0\n"
     "const r float32[1,15,5] = splat 0\nnode GRU: x w r -> y z layout=1\noutput y\noutput z\n",
     {"float32[2,7,1,5]", "float32[2,1,5]"}},
    {"svdf",
     "format tflite\ninput x int8[1,3]\nconst w int8[8,3] = splat 0\nconst t int8[8,10] = splat 0\n"
     "state s int8[1,80]\nnode tflite.SVDF: x w t _ s -> y rank=2\noutput y\nvalue y int8\n",
     {"int8[1,4]"}},

    /* The file's word */
    {"non zero",
     "format onnx 13\ninput x float32[2,3]\nvalue y int64[2,6]\nnode NonZero: x -> y\noutput y\n",
     {"int64[2,6]"}},
    {"custom",
     "format onnx 13\ninput x float32[2,3]\nvalue y int8[7]\nnode Custom(my.Thing): x -> y\noutput y\n",
     {"int8[7]"}},
    {"stale note between operators", /* the operator is followed */
     "format onnx 13\ninput x float32[2,3]\nvalue m float32[2,768]\nnode Relu: x -> m\nnode Relu: m -> y\noutput y\n",
     {"float32[2,3]"}},
    {"stale extent of an output",
     "format onnx 13\ninput x float32[2,3]\nvalue y float32[2,768]\nnode Relu: x -> y\noutput y\n",
     {"float32[2,3]"}},
    {"stale rank of an output",
     "format onnx 13\ninput x float32[2,3]\nvalue y float32[6]\nnode Relu: x -> y\noutput y\n",
     {"float32[2,3]"}},
    {"stale output of TFLite",
     "format tflite\ninput x int8[2,3]\nvalue y int8[]\nnode Relu: x -> y\noutput y\n",
     {"int8[2,3]"}},
    {"free in the file",
     "format onnx 13\ninput x float32[2,3]\nvalue y float32[?,3]\nnode Relu: x -> y\noutput y\n",
     {"float32[2,3]"}},
};

/* "dtype[dims]" of a value. */
static Str describe(Work *work, const Value *value) {
    Str shape = value->has_shape ? shape_text(&work->keep, &value->shape) : STR("no shape");
    return arena_format(&work->keep, "%s" STR_FMT, dtype_name(value->dtype), STR_ARG(shape));
}

static bool is_case_right(Work *work, const Case *c) {
    static const char *const names[] = {"y", "z", "w"};
    Graph *graph = graph_of_row(work, c->name, c->body);
    if (graph == NULL || !graph_infer(graph, work)) {
        diags_print(&work->diags, c->name, stderr);
        return false;
    }
    for (size_t k = 0; k < 3 && c->shape[k] != NULL; k++) {
        Str got = describe(work, value_of(graph, names[k]));
        if (!str_eq(got, str_from(c->shape[k]))) {
            print_error("%s: %s is " STR_FMT ", not %s\n", c->name, names[k], STR_ARG(got), c->shape[k]);
            return false;
        }
    }
    return true;
}

static void check_case(Work *work, const void *argument) {
    const Run *run = argument;
    *run->wrong += !is_case_right(work, run->row);
}

static void shapes_follow(void **state) {
    (void)state;
    size_t wrong = 0;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        with_work(check_case, &(Run){&cases[k], &wrong});
    }
    assert_int_equal(wrong, 0);
}

/* Cases J1 and J4: sizes past 32 bits are exact, and a product with a 0 is 0 whatever else stands there. */
static void sizes_are_exact(Work *work) {
    Graph *graph =
        parse_sound(work, "format onnx 13\ninput x int8[65537,65536]\ninput e float32[0,1099511627776,1099511627776]\n"
                          "node Relu: x -> y\nnode Relu: e -> z\noutput y\noutput z\n");
    uint64_t elements = 0;
    assert_true(graph_infer(graph, work));
    assert_true(shape_elements(&value_of(graph, "y")->shape, &elements));
    assert_int_equal(elements, 4295032832u);
    assert_true(shape_elements(&value_of(graph, "z")->shape, &elements));
    assert_int_equal(elements, 0);
}

static void stale_shapes_are_told_once(Work *work) {
    Graph *graph =
        parse_sound(work, "format onnx 13\ninput x float32[2,3]\nvalue m float32[2,768]\nvalue n float32[7]\n"
                          "node Relu r: x -> m\nnode Relu: m -> n\nnode Relu: n -> y\noutput y\n");
    assert_true(graph_infer(graph, work));
    assert_int_equal(work->diags.count[DIAG_WARNING], 1);
    assert_true(was_told(work, "2 tensors"));
    assert_true(was_told(work, "[2,768]"));
    assert_true(was_told(work, "[2,3]"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_follow),
        WORK_TEST(sizes_are_exact),
        WORK_TEST(stale_shapes_are_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
