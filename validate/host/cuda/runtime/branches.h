// What comparisons of whole numbers compared: so that a branch shows which waits for sizes that no
// launch has had. One record a place in the machine code and side of the comparison.

namespace pairsmith {

struct branch_t {
    const void* place;
    long long least, most, other_least, other_most;
    unsigned long long sum, count;
};

static const unsigned int most_branches = 1024;

inline void compared(const void* place, long long value, long long other)
{
    launch_t* launch = launched;
    if (launch == nullptr || launch->branches == nullptr)
        return;
    const unsigned int start = static_cast<unsigned int>((reinterpret_cast<unsigned long long>(place) >> 1) * 2654435761u);
    for (unsigned int probe = 0; probe < 16; ++probe) {
        branch_t& branch = launch->branches[(start + probe) % most_branches];
        if (branch.place == nullptr) {
            branch = { place, value, value, other, other, 0, 0 };
            ++launch->branch_count;
        }
        if (branch.place != place)
            continue;
        branch.least = value < branch.least ? value : branch.least;
        branch.most = value > branch.most ? value : branch.most;
        branch.other_least = other < branch.other_least ? other : branch.other_least;
        branch.other_most = other > branch.other_most ? other : branch.other_most;
        // In no order of threads: launches of one shape take them in different ones.
        branch.sum += (static_cast<unsigned long long>(value) * 0x9e3779b97f4a7c15u) ^ static_cast<unsigned long long>(other);
        ++branch.count;
        return;
    }
}

}  // namespace pairsmith

#define PAIRSMITH_COMPARISON(bytes, type)                                                              \
    void __sanitizer_cov_trace_cmp##bytes(type a, type b)                                              \
    {                                                                                                  \
        pairsmith::compared(__builtin_return_address(0), a, b);                                        \
    }                                                                                                  \
    void __sanitizer_cov_trace_const_cmp##bytes(type constant, type value)                             \
    {                                                                                                  \
        pairsmith::compared(__builtin_return_address(0), value, constant);                             \
    }

extern "C" {
PAIRSMITH_COMPARISON(1, signed char)
PAIRSMITH_COMPARISON(2, short)
PAIRSMITH_COMPARISON(4, int)
PAIRSMITH_COMPARISON(8, long long)
void __sanitizer_cov_trace_switch(unsigned long long value, unsigned long long* cases)
{
    // A count, the bits of the value, and the cases in rising order.
    if (cases[0] != 0)
        pairsmith::compared(__builtin_return_address(0), static_cast<long long>(value),
                            static_cast<long long>(cases[1 + cases[0]]));
}
}
