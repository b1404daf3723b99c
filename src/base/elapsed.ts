/** A stretch of time in at most two units: `<1s`, `42s`, `5m`, `3h20m`, `2d4h`. */
export function renderElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 1) return '<1s';
  if (minutes < 1) return `${seconds}s`;
  if (hours < 1) return `${minutes}m`;
  return days < 1 ? `${hours}h${minutes % 60}m` : `${days}d${hours % 24}h`;
}
