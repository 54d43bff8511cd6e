import fc from 'fast-check';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    readonly propertyMs: number;
  }
}

/**
 * A property that takes too long, or whose counterexample takes too long to be made smaller, fails by itself and says its seed. Where the
 * limit of the test came first, all that were known is that it did.
 */
fc.configureGlobal({ interruptAfterTimeLimit: inject('propertyMs'), markInterruptAsFailure: true });
