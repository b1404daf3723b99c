/** Marks the branch that an exhaustive switch cannot reach. Reaching it is a defect of harn. */
export function assertNever(value: never): never {
  throw new Error(`unexpected variant: ${JSON.stringify(value)}`);
}
