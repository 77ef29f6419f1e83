/*
 * random.js: random numbers that are the same on every computer: a seed gives the same picture, and
 * a link shows the same to everyone.
 */

/* Whole numbers of 32 bits, by a multiplicative hash (murmur3's last steps) of a counter. */
export function generator(seed) {
    let count = Math.imul(seed, 0x9e3779b9) >>> 0;
    return () => {
        count = (count + 0x6d2b79f5) >>> 0;
        let hash = count;
        hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
        hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
        return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
    };
}

/* Normal numbers by Box and Muller: two uniform ones give one. */
export function normal(uniform) {
    const size = Math.sqrt(-2 * Math.log(1 - uniform()));
    return size * Math.cos(2 * Math.PI * uniform());
}
