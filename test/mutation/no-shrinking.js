import fc from 'fast-check';

// Nobody reads the smallest counterexample, and finding it takes longer than everything else.
fc.configureGlobal({ endOnFailure: true });
