import type { KubeObject } from '../../api/object.ts'
import type { StoredObject } from '../objects/stored-object.ts'
import type { Registered } from '../registry/registry.ts'
import type { Result } from '../requests/request.ts'

/** Stored objects in the version of a request. It waits only where another server converts them. */
export const shown = ({ resource: { conversion } }: Registered, items: readonly StoredObject[]) =>
  conversion ? conversion.show(items) : items

/** One object in the version of a request, decoded. */
export function presented(target: Registered, stored: StoredObject): KubeObject | Promise<KubeObject> {
  const { storedAs } = target.resource
  if (storedAs) return storedAs.fromStored(stored.object)
  const found = shown(target, [stored])
  return found instanceof Promise ? found.then(([one]) => one!.object) : found[0]!.object
}

/** What a verb answers, with its objects in the version of the request. */
export async function shownResult(target: Registered, answered: Result | Promise<Result>): Promise<Result> {
  const result = await answered
  if (result.kind === 'list') return { ...result, items: await shown(target, result.items) }
  if (result.kind !== 'stored') return result
  const [stored] = await shown(target, [result.stored])
  return { ...result, stored: stored! }
}
