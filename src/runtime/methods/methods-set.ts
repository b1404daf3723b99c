import { equals } from '../equality.ts';
import { iterOf } from '../iterate.ts';
import { andThen } from '../maybe-async.ts';
import { setItems, setOf } from '../sets.ts';
import { isCallable, SetValue, type Value } from '../value.ts';
import type { MethodTable } from './methods.ts';
import { filterList, findAt, LIST_METHODS, mapList } from './methods-list.ts';

/** Methods of sets (spec/language.md 7.4). They compare with `==`; receiver order first, then new elements. */
export const SET_METHODS: MethodTable<SetValue> = {
  count: (_c, _d, set) => set.items.size,
  len: (_c, _d, set) => set.items.size,
  empty: (_c, _d, set) => set.items.size === 0,
  contains: (_c, _d, set, [value]) => holds(set, value),
  add: (_c, _d, set, [value]) => (holds(set, value) ? set : setOf([...setItems(set), value])),
  remove: (_c, _d, set, [value]) => without(set, value),
  delete: (_c, _d, set, [value]) => without(set, value),
  union: (_c, _d, set, [other]) => (other instanceof SetValue ? union(set, other) : set),
  difference: (_c, _d, set, [other]) => (other instanceof SetValue ? difference(set, other) : set),
  symmetric_difference: (_c, _d, set, [other]) =>
    other instanceof SetValue ? setOf([...setItems(difference(set, other)), ...setItems(difference(other, set))]) : set,
  intersect: (_c, _d, set, [other]) => intersect(set, other),
  intersection: (_c, _d, set, [other]) => intersect(set, other),
  is_subset: (_c, _d, set, [other]) => other instanceof SetValue && setItems(set).every((item) => holds(other, item)),
  is_superset: (_c, _d, set, [other]) => other instanceof SetValue && setItems(other).every((item) => holds(set, item)),
  is_disjoint: (_c, _d, set, [other]) => !(other instanceof SetValue) || !setItems(set).some((item) => holds(other, item)),
  to_list: (_c, _d, set) => setItems(set),
  map: (c, d, set, [fn]) => (isCallable(fn) ? andThen(mapList(c, d, setItems(set), fn), (items) => setOf(items as Value[])) : undefined),
  filter: (c, d, set, [fn]) => (isCallable(fn) ? andThen(filterList(c, d, setItems(set), fn), setOf) : undefined),
  any: (c, d, set, [fn]) => (isCallable(fn) ? andThen(findAt(c, d, setItems(set), fn), (at) => at >= 0) : false),
  all: (c, d, set, args) => LIST_METHODS.all?.(c, d, setItems(set), args),
  every: (c, d, set, args) => LIST_METHODS.every?.(c, d, setItems(set), args),
  iter: (_c, _d, set) => iterOf(set),
};

function holds(set: SetValue, value: Value): boolean {
  return setItems(set).some((item) => equals(item, value));
}

function without(set: SetValue, value: Value): SetValue {
  return setOf(setItems(set).filter((item) => !equals(item, value)));
}

function union(a: SetValue, b: SetValue): SetValue {
  return setOf([...setItems(a), ...setItems(b).filter((item) => !holds(a, item))]);
}

function difference(a: SetValue, b: SetValue): SetValue {
  return setOf(setItems(a).filter((item) => !holds(b, item)));
}

function intersect(a: SetValue, b: Value): SetValue {
  return setOf(b instanceof SetValue ? setItems(a).filter((item) => holds(b, item)) : []);
}
