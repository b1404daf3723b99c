import { expect, test } from 'vitest';
import { linesOf } from '../runtime/run-text.ts';

const RESULTS: readonly (readonly [expression: string, shown: string])[] = [
  ['clamp(5, 0, 3)', '3'],
  ['clamp(-5, 0, 3)', '0'],
  ['lerp(0, 100, 0.5)', '50.0'],
  ['map_range(50, 0, 100, 0, 1)', '0.5'],
  ['rad_to_deg(deg_to_rad(90))', '90.0'],
  ['sum([1, 2])', '3'],
  ['avg([])', '0'],
  ['avg([1, 2])', '1.5'],
  ['median([3, 1, 2])', '2.0'],
  ['percentile([1, 2, 3, 4], 75)', '3.25'],
  ['argsort([3, 1, 2])', '[1, 2, 0]'],
  ['argsort(["ccc", "a"], { x -> len(x) })', '[1, 0]'],
  ['top_k(["a", "bbbb", "cc"], 2, { x -> len(x) })', '[bbbb, cc]'],
  ['top_k([1, 2], 5)', '[2, 1]'],
  ['variance([1, 3])', '1.0'],
  ['variance([1, 3], true)', '2.0'],
  ['minmax_scale([1, 2, 3])', '[0.0, 0.5, 1.0]'],
  ['minmax_scale([4, 4])', '[0.0, 0.0]'],
  ['zscore([1, 3])', '[-1.0, 1.0]'],
  ['zscore([7, 7])', '[0.0, 0.0]'],
  ['weighted_mean([1, 2], [1, 3])', '1.75'],
  ['weighted_choice(["a", "b"], [0, 1])', 'b'],
  ['softmax([1, 1])', '[0.5, 0.5]'],
  ['softmax([1000, 1000])', '[0.5, 0.5]'],
  ['dot([1, 2], [3, 4])', '11'],
  ['vector_normalize([3, 4])', '[0.6, 0.8]'],
  ['cosine_similarity([1, 0], [0, 2])', '0.0'],
  ['euclidean_distance([0, 0], [3, 4])', '5.0'],
  ['manhattan_distance([1, 2], [4, 0])', '5'],
  ['chebyshev_distance([1, 2], [4, 0])', '3'],
  ['covariance([1, 2, 3], [2, 4, 6], true)', '2.0'],
  ['round(1000 * correlation([1, 2, 3], [3, 2, 1]))', '-1000'],
  ['moving_avg([1, 2, 3, 4], 3)', '[2.0, 3.0]'],
  ['ema([1, 2], 0.5)', '[1.0, 1.5]'],
  ['normal_cdf(0)', '0.5'],
  ['round(1000000 * normal_cdf(1.96))', '975002'],
  ['round(1000000 * normal_cdf(-3))', '1350'],
  ['round(1000000 * normal_pdf(0))', '398942'],
  ['round(1000000 * normal_quantile(0.975))', '1959964'],
  ['normal_quantile(0.5, 10, 2)', '10.0'],
  ['kmeans([[0], [1], [9]], 2).assignments', '[0, 0, 1]'],
  ['kmeans([[0], [1], [9]], 2).centroids', '[[0.5], [9.0]]'],
];

test.each(RESULTS)('%s gives %s', async (expression, shown) => {
  expect(await linesOf(`import "std/math"\nprintln(${expression})`)).toEqual([shown]);
});

const REFUSALS: readonly (readonly [expression: string, message: string])[] = [
  ['mean([])', 'items must not be empty'],
  ['median([])', 'items must not be empty'],
  ['softmax([])', 'items must not be empty'],
  ['percentile([1], 101)', 'percentile must be between 0 and 100'],
  ['stddev([1], true)', 'sample variance requires at least 2 values'],
  ['softmax([1], 0)', 'temperature must be greater than 0'],
  ['dot([1], [1, 2])', 'vectors must have the same length'],
  ['cosine_similarity([1], [1, 2])', 'vectors must have the same length'],
  ['vector_normalize([0, 0])', 'cannot normalize a zero vector'],
  ['covariance([1], [])', 'xs and ys must have the same length'],
  ['correlation([1, 1], [1, 2])', 'correlation requires non-constant inputs'],
  ['weighted_mean([1], [])', 'items and weights must have the same length'],
  ['weighted_choice([1], [0])', 'weights must sum to a positive value'],
  ['moving_avg([1], 2)', 'window must not exceed the number of items'],
  ['normal_quantile(1)', 'probability must be between 0 and 1'],
  ['kmeans([[1]], 0)', 'k must be at least 1'],
  ['kmeans([[1], [1, 2]], 1)', 'all points must have the same dimension'],
];

test.each(REFUSALS)('%s throws %s', async (expression, message) => {
  expect(await linesOf(`import "std/math"\nprintln(try { ${expression} } catch (e) { e })`)).toEqual([message]);
});
