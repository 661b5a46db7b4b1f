// Asynchronous products of warpgroups. What one reads is read when it starts and again, to be used,
// when it is waited for: who overwrites it in between races with one of the two. Its sums are poison
// until then.

namespace pairsmith {

typedef void (*product_body_t)(unsigned long long a, unsigned long long b, float* sums);

struct product_t {
    product_body_t body;
    unsigned long long a, b;
    float *sums, *held;  // what the thread sees, and what is added to
    unsigned int count;
};

struct products_t {
    product_t* started;
    unsigned int count, room;
};

static products_t products[1024];

// Who adds to the same sums later, if anybody does.
inline const product_t* later_of_same(const products_t& own, unsigned int p)
{
    for (unsigned int later = p + 1; later < own.count; ++later)
        if (own.started[later].sums == own.started[p].sums)
            return &own.started[later];
    return nullptr;
}

inline void forget_products()
{
    for (products_t& own : products) {
        for (unsigned int p = 0; p < own.count; ++p)
            if (later_of_same(own, p) == nullptr)
                free(own.started[p].held);
        own.count = 0;
    }
}

inline products_t& own_products() { return products[(me.thread - 1) % block_threads]; }

void multiply_later(product_body_t body, unsigned long long a, unsigned long long b, float* sums, unsigned int count)
{
    products_t& own = own_products();
    if (own.count == own.room) {
        own.room = own.room ? 2 * own.room : 8;
        own.started = static_cast<product_t*>(realloc(own.started, own.room * sizeof(product_t)));
    }
    float* held = nullptr;
    for (unsigned int p = 0; p < own.count; ++p)
        if (own.started[p].sums == sums)
            held = own.started[p].held;
    if (held == nullptr) {
        held = static_cast<float*>(malloc(count * sizeof(float)));
        __builtin_memcpy(held, sums, count * sizeof(float));
    }
    own.started[own.count++] = { body, a, b, sums, held, count };
    memset(sums, 0xff, count * sizeof(float));
    body(a, b, nullptr);
}

void wait_for_products(unsigned int pending)
{
    products_t& own = own_products();
    const unsigned int done = own.count > pending ? own.count - pending : 0;
    for (unsigned int p = 0; p < done; ++p) {
        const product_t& one = own.started[p];
        one.body(one.a, one.b, one.held);
        if (later_of_same(own, p) == nullptr) {
            __builtin_memcpy(one.sums, one.held, one.count * sizeof(float));
            free(one.held);
        }
    }
    for (unsigned int p = done; p < own.count; ++p)
        own.started[p - done] = own.started[p];
    own.count -= done;
}

}  // namespace pairsmith
