import fc from 'fast-check';

// Nobody needs the smallest counterexample here, and finding it takes longer than all the rest.
fc.configureGlobal({ endOnFailure: true });
