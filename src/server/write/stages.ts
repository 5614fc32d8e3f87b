import { isAlreadyExists, isConflict } from '../../api/errors.ts'
import type { ResourceRequest } from '../requests/request.ts'
import { admitMutating, admitValidating, reserve } from './admission.ts'
import { commit } from './commit.ts'
import { applyDefaults, makeChange, readCurrent } from './change.ts'
import { trackOwnership } from './ownership.ts'
import { allocate, prepare } from './prepare.ts'
import { validate } from './validate.ts'
import type { Change, Outcome, Write } from './write.ts'

/** One step of a write. It refuses by an ApiError, and answers a promise only where it has to wait. */
export interface Stage {
  readonly name: string
  run(write: Write): Promise<void> | void
}

/** The way of every write, from the wish to the store. */
export const stages: readonly Stage[] = [
  { name: 'current', run: readCurrent },
  { name: 'change', run: makeChange },
  { name: 'defaults', run: applyDefaults },
  { name: 'ownership', run: trackOwnership },
  { name: 'mutating admission', run: admitMutating },
  { name: 'prepare', run: prepare },
  { name: 'allocate', run: allocate },
  { name: 'validate', run: validate },
  { name: 'validating admission', run: admitValidating },
  { name: 'reserve', run: reserve },
  { name: 'commit', run: commit },
]

/** How often a name that turns out to be taken is tried: a generated one is made anew. */
const nameAttempts = 8

/** Takes a change through all stages, again where another writer was faster and the change can be made on top. */
export async function write(request: ResourceRequest, change: Change): Promise<Outcome> {
  for (let attempt = 1; ; attempt++) {
    const current = begin(request, change)
    let committed = false
    try {
      const waiting = runFrom(current, 0)
      if (waiting) await waiting
      committed = !change.dryRun
      return { stored: current.result!, isCreated: current.operation === 'CREATE', isRemoved: current.isRemoval }
    } catch (e) {
      if (!isWorthAnotherTry(current, e, attempt)) throw e
    } finally {
      for (const held of current.held) {
        const waiting = held.finish(committed)
        if (waiting) await waiting
      }
    }
  }
}

function begin(request: ResourceRequest, change: Change): Write {
  return {
    request, change, operation: change.operation, stored: undefined, old: undefined, sent: undefined, object: undefined,
    owners: undefined, isRemoval: false, canRepeat: false, held: [], result: undefined,
  }
}

/** Runs the stages from one on. Nothing is waited for where no stage waits. */
function runFrom(current: Write, first: number): Promise<void> | undefined {
  const { onStage } = current.request.server
  for (let i = first; i < stages.length; i++) {
    const stage = stages[i]!
    onStage?.(stage.name, current)
    const waiting = stage.run(current)
    if (waiting) return waiting.then(() => runFrom(current, i + 1))
  }
  return undefined
}

/** True if a refusal is due to somebody who was faster, and the same change may succeed on what is there now. */
function isWorthAnotherTry({ request, operation, stored, canRepeat }: Write, e: unknown, attempt: number): boolean {
  if (!canRepeat) return false
  if (operation === 'CREATE') return isAlreadyExists(e) && attempt < nameAttempts
  if (!isConflict(e)) return false
  const { server, target, namespace, name } = request
  return server.objects.get(target, namespace, name)?.revision !== stored?.revision
}
