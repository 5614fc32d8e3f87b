import { isAlreadyExists, isConflict } from '../../api/errors.ts'
import { WriteUncertainError } from '../../store/index.ts'
import { longBody } from '../requests/crowded-body.ts'
import { inOneTurn } from '../requests/long-turns.ts'
import type { ResourceRequest } from '../requests/request.ts'
import { admitMutating, admitValidating, reserve } from './admission.ts'
import { commit } from './commit.ts'
import { applyDefaults, makeChange, readCurrent } from './change.ts'
import { trackOwnership } from './ownership.ts'
import { allocate, prepare } from './prepare.ts'
import { validate } from './validate.ts'
import type { Change, Outcome, Write } from './write.ts'

/** A stage of a write. It throws an ApiError to reject the write, and returns a promise only if it has to wait. */
interface Stage {
  readonly name: string
  run(write: Write): Promise<void> | void
}

/** The stages of every write, in order. */
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

/** The number of attempts to find an unused generated name. */
const nameAttempts = 8

/** Runs a change through all stages, and again after a conflict if the change can be applied to the newer object. */
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
      // The write may have been stored, so its addresses, ports and quota are not released. The repair loops release
      // them if it was not.
      if (e instanceof WriteUncertainError) committed = true
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
    request,
    change,
    operation: change.operation,
    stored: undefined,
    old: undefined,
    sent: undefined,
    object: undefined,
    owners: undefined,
    isRemoval: false,
    canRepeat: false,
    held: [],
    result: undefined,
  }
}

/** Runs the stages from `first` on. Asynchronous only if a stage waits or the object is large. */
function runFrom(current: Write, first: number): Promise<void> | undefined {
  const { onStage } = current.request.server
  for (let i = first; i < stages.length; i++) {
    if (isLong(current)) return runInTurns(current, i)
    const stage = stages[i]!
    onStage?.(stage.name, current)
    const waiting = stage.run(current)
    if (waiting) return waiting.then(() => runFrom(current, i + 1))
  }
  return undefined
}

/** True if running all stages in one turn would block other requests for too long. */
const isLong = ({ request, stored }: Write): boolean =>
  request.body.giveWay !== undefined || (stored !== undefined && stored.roughSize > longBody)

/** Runs the stages of a large object in separate turns. */
async function runInTurns(current: Write, first: number): Promise<void> {
  const { server, body, turns } = current.request
  for (let i = first; i < stages.length; i++) {
    const stage = stages[i]!
    server.onStage?.(stage.name, current)
    await inOneTurn(body, `write: ${stage.name}`, () => stage.run(current))
    if (turns.isSpent) await turns.next()
  }
}

/** True if the write lost a race and may succeed against the newer object. */
function isWorthAnotherTry({ request, operation, stored, canRepeat }: Write, e: unknown, attempt: number): boolean {
  if (!canRepeat) return false
  if (operation === 'CREATE') return isAlreadyExists(e) && attempt < nameAttempts
  if (!isConflict(e)) return false
  const { server, target, namespace, name } = request
  return server.objects.get(target, namespace, name)?.revision !== stored?.revision
}
