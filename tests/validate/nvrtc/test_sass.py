"""Listings of nvdisasm, read by hand."""

from __future__ import annotations

from validate.nvrtc.sass import Sass, kernels

LISTING = """\t.target\tsm_90

\t.elftype\t@"ET_EXEC"


//--------------------- .text.first               --------------------------
\t.section\t.text.first,"ax",@progbits
\t.align\t128
        .global         first
        .type           first,@function
        .size           first,(.L_x_2 - first)
first:
.text.first:
\t//## File "/somewhere/cuda_plain", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/headers/math.h", line 70 inlined at "/somewhere/cuda_plain", line 5
\t//## File "/somewhere/cuda_plain", line 5
        /*0010*/               @P0 EXIT ;
        /*0020*/                   STL [R1], R0                                   (*"SpillRefill"*);
.L_x_0:
\t//## File "/headers/math.h", line 71
        /*0030*/                   NOP;
\t//## File "/somewhere/cuda_plain", line 2 inlined at "/somewhere/cuda_plain", line 5
\t//## File "/somewhere/cuda_plain", line 5
        /*10040*/                   EXIT ;
.L_x_1:
        /*10050*/                   BRA `(.L_x_1);
\t//## File "/somewhere/cuda_plain", line 9
        /*10060*/                   NOP;
        /*10070*/                   NOP ;
.L_x_2:


//--------------------- .nv.constant0.first       --------------------------
\t.section\t.nv.constant0.first,"a",@progbits
//--------------------- .text.second_kernel_of_a_rather_long_name --------------------------
second_kernel_of_a_rather_long_name:
.text.second_kernel_of_a_rather_long_name:
        /*0000*/                   EXIT ;

//--------------------- SYMBOLS --------------------------

\t.type\t\t.nv.reservedSmem.offset0,@object
"""


def test_kernels_with_their_lines() -> None:
    assert kernels(LISTING, ["cuda_plain"]) == {
        "first": Sass(
            text=(
                "first:\n"
                "    /*0000*/  LDC R1, c[0x0][0x28] ;\n"
                "    /*0010*/  @P0 EXIT ;\n"
                '    /*0020*/  STL [R1], R0 (*"SpillRefill"*);\n'
                ".L_x_0:\n"
                "    /*0030*/  NOP;\n"
                "    /*10040*/  EXIT ;\n"
                ".L_x_1:\n"
                "    /*10050*/  BRA `(.L_x_1);\n"
            ),
            lines=((0, 3), (0x10, 5), (0x30, None), (0x10040, 2)),
            instructions=6,
        ),
        "second_kernel_of_a_rather_long_name": Sass(
            text="second_kernel_of_a_rather_long_name:\n    /*0000*/  EXIT ;\n",
            lines=((0, None),),
            instructions=1,
        ),
    }


def test_lines_of_another_file() -> None:
    assert kernels(LISTING, ["math.h"])["first"].lines[:3] == ((0, None), (0x10, 70), (0x30, 71))
