import { isNotFound } from '../../api/errors.ts'
import type { ResourceRequest, Result } from '../requests/request.ts'
import { deleteObject, readDeleteOptions } from './delete.ts'
import { list } from './list.ts'

/** How many are on their way at once: they share commits, and none waits for all. */
const width = 64

/** DELETE of a collection: every object that a list with the same options shows, answered as that list. */
export async function deleteCollection(request: ResourceRequest): Promise<Result> {
  const options = await readDeleteOptions(request)
  const listed = await list(request)
  if (listed.kind !== 'list') return listed
  let next = 0
  const work = async () => {
    while (next < listed.items.length) {
      const { namespace = '', name = '' } = listed.items[next++]!.object.metadata
      try {
        await deleteObject({ ...request, namespace, name }, options)
      } catch (e) {
        // Somebody else was faster: it is gone, as was asked for.
        if (!isNotFound(e)) throw e
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, listed.items.length) }, work))
  return listed
}
