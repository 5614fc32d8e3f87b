/** One operation on one key, as observed by its client. */
export interface Operation {
  key: string
  kind: 'write' | 'read'
  startMs: number
  /** Undefined if it has no answer: it may take effect at any later time, or never. */
  endMs: number | undefined
  /** The version that a write made or a read saw; `absent` for a read that found nothing; undefined where that is not known. */
  version: number | 'absent' | undefined
}

/** One state of a key, in the order of the store. */
export interface Version {
  version: number
  isAbsent: boolean
}

interface Placed extends Operation {
  /** The index of its version in the order of the key's states. */
  index: number
}

/**
 * Checks that every operation on a key can be given one moment between its start and its end, so that reads see the
 * last write before them. The order of a key's states is known from the store, so no search is needed: an operation
 * must not see a state before one that was seen, or made, by an operation that had ended when it started. Answers what
 * is wrong.
 */
export function violations(operations: readonly Operation[], history: ReadonlyMap<string, readonly Version[]>): string[] {
  const found: string[] = []
  for (const key of new Set(operations.map((operation) => operation.key))) {
    // Before the first write, nothing is there.
    const states = [{ version: 0, isAbsent: true }, ...(history.get(key) ?? [])]
    const indexOf = new Map(states.map(({ version }, index) => [version, index]))
    const placed: Placed[] = []
    const absent: Operation[] = []
    for (const operation of operations) {
      if (operation.key !== key || operation.version === undefined) continue
      if (operation.version === 'absent') absent.push(operation)
      else {
        const index = indexOf.get(operation.version)
        if (index === undefined) found.push(`${shown(operation)}: the store never had this version`)
        else placed.push({ ...operation, index })
      }
    }
    found.push(...outOfOrder(placed), ...absent.flatMap((read) => impossibleAbsence(read, placed, states)))
  }
  return found
}

/** In the order of their starts, each operation is compared with the newest state of all that had ended before. */
function outOfOrder(placed: readonly Placed[]): string[] {
  const starts = placed.toSorted((a, b) => a.startMs - b.startMs)
  const ends = placed.filter(({ endMs }) => endMs !== undefined).toSorted((a, b) => a.endMs! - b.endMs!)
  const found: string[] = []
  let newest: Placed | undefined
  let next = 0
  for (const operation of starts) {
    while (next < ends.length && ends[next]!.endMs! < operation.startMs) {
      const ended = ends[next++]!
      if (!newest || ended.index > newest.index) newest = ended
    }
    if (!newest) continue
    const isLate = operation.kind === 'write' ? operation.index <= newest.index : operation.index < newest.index
    if (isLate) found.push(`${shown(operation)} is older than ${shown(newest)}, which had ended before`)
  }
  return found
}

function impossibleAbsence(read: Operation, placed: readonly Placed[], states: readonly Version[]): string[] {
  let lowest = 0
  let highest = states.length - 1
  for (const { kind, startMs, endMs, index } of placed) {
    if (endMs !== undefined && endMs < read.startMs) lowest = Math.max(lowest, index)
    if (read.endMs !== undefined && startMs > read.endMs) highest = Math.min(highest, kind === 'write' ? index - 1 : index)
  }
  for (let i = lowest; i <= highest; i++) if (states[i]!.isAbsent) return []
  return [`${shown(read)}: it was there all the time`]
}

const shown = ({ key, kind, version, startMs, endMs }: Operation): string => `${kind} of ${key} at ${version} (${startMs.toFixed(1)} to ${endMs?.toFixed(1) ?? 'never'})`
