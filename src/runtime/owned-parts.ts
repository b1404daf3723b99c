import { copyDict, dictValues } from './dict.ts';
import { Dict, StructValue, type Value } from './value.ts';

/**
 * Which containers inside of a variable's own container nobody else can see: those that a nested write
 * (`grid[i][j] = v`) copied for it. They may be written to in place, as long as the path to them leads through
 * containers that the variable owns too; whatever escapes through a read is released first.
 */
export class OwnedParts {
  /** The part written to last, which most often is the next one too. */
  last: Value;
  readonly #parts = new WeakSet<object>();

  has(part: Value): boolean {
    return part === this.last ? part !== undefined : typeof part === 'object' && this.#parts.has(part);
  }

  add(part: Value): void {
    if (typeof part !== 'object') return;
    this.#parts.add(part);
    this.last = part;
  }

  /**
   * A copy to write to of a part that others may hold. What lies in the part is shared from now on, also what the variable
   * owned while the part was its own.
   */
  copy(part: Value): Value {
    const copied = own(part);
    if (Array.isArray(copied)) for (const item of copied) this.release(item as Value);
    else for (const item of dictValuesOf(copied)) this.release(item);
    return copied;
  }

  release(part: Value): void {
    if (typeof part !== 'object') return;
    this.#parts.delete(part);
    if (this.last === part) this.last = undefined;
  }
}

function dictValuesOf(container: Value): readonly Value[] {
  if (container instanceof StructValue) return dictValues(container.fields);
  return container instanceof Dict ? dictValues(container) : [];
}

/** A container that may be written to; other values as they are. */
export function own(value: Value): Value {
  if (Array.isArray(value)) return value.slice();
  if (value instanceof StructValue) return new StructValue(value.structName, copyDict(value.fields));
  if (value instanceof Dict) return copyDict(value);
  return value;
}

/** A value read out of an owned container: from now on others may hold it. */
export function escaping(owned: OwnedParts | boolean | undefined, value: Value): Value {
  if (owned instanceof OwnedParts) owned.release(value);
  return value;
}
