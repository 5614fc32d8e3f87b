import { isNotFound } from '../../api/errors.ts'
import type { Namespace, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Discovered, type ServedResource, discover } from '../../client/index.ts'
import { type FreeContext, eachOf } from '../kit/index.ts'
import { isPodFinished, millisecondsOf } from '../kit/workload/index.ts'
import type { KindReport, Report } from './report.ts'

const isPods = ({ group, plural }: ServedResource) => group === '' && plural === 'pods'

/**
 * Deletes the objects of every kind in a namespace, and reports what is left. Pods are deleted first: running pods must
 * not lose other objects.
 */
export async function emptyNamespace(ctx: FreeContext, namespace: Namespace): Promise<Report> {
  const { found, discoveryError } = await kindsOf(ctx)
  const kinds = found.resources.filter(
    (type) => type.namespaced && type.isPreferred && type.verbs.includes('delete') && type.verbs.includes('list'),
  )
  const empty = (type: ServedResource) => emptyKind(ctx, type, namespace)
  const pods = await Promise.all(kinds.filter(isPods).map(empty))
  if (pods.some(({ remaining, error }) => remaining.length > 0 || error)) return { discoveryError, kinds: pods }
  return { discoveryError, kinds: [...pods, ...(await Promise.all(kinds.filter((type) => !isPods(type)).map(empty)))] }
}

/** Kinds whose discovery failed are reported, and keep the namespace. */
async function kindsOf({
  client,
  signal,
}: FreeContext): Promise<{ found: Discovered; discoveryError: string | undefined }> {
  try {
    const found = await discover(client, signal)
    const { failures } = found
    const text = `unable to retrieve the complete list of server APIs: ${failures.join(', ')}`
    return {
      found,
      discoveryError: failures.length
        ? `Discovery failed for some groups, ${failures.length} failing: ${text}`
        : undefined,
    }
  } catch (e) {
    signal.throwIfAborted()
    return { found: { resources: [], failures: [] }, discoveryError: e instanceof Error ? e.message : String(e) }
  }
}

async function emptyKind(ctx: FreeContext, type: ServedResource, namespace: Namespace): Promise<KindReport> {
  try {
    let remaining = await listAll(ctx, type, namespace)
    if (remaining.some((object) => !object.metadata.deletionTimestamp)) {
      await deleteAll(ctx, type, namespace, remaining)
      remaining = await listAll(ctx, type, namespace)
    }
    return {
      type,
      remaining,
      graceSeconds: isPods(type) ? graceSeconds(remaining as Pod[], namespace, ctx.clock.now()) : 0,
      error: undefined,
    }
  } catch (e) {
    ctx.signal.throwIfAborted()
    return { type, remaining: [], graceSeconds: 0, error: e instanceof Error ? e : new Error(String(e)) }
  }
}

async function listAll(
  { client, signal }: FreeContext,
  type: ServedResource,
  namespace: Namespace,
): Promise<KubeObject[]> {
  const objects: KubeObject[] = []
  for await (const page of client.listAll(type, namespace.metadata.name ?? '', { signal, allowInconsistent: true }))
    objects.push(...page.items)
  return objects
}

async function deleteAll(
  { client, signal }: FreeContext,
  type: ServedResource,
  { metadata }: Namespace,
  objects: readonly KubeObject[],
): Promise<void> {
  const options = { propagationPolicy: 'Background', signal } as const
  const namespace = metadata.name ?? ''
  if (type.verbs.includes('deletecollection')) return client.deleteCollection(type, namespace, options)
  await eachOf(objects, ({ metadata: { name = '', uid } }) =>
    client.delete(type, namespace, name, { ...options, uid }).catch(ignoreGone),
  )
}

function ignoreGone(e: unknown): void {
  if (!isNotFound(e)) throw e
}

/** The longest grace period. Finished pods need no time. */
function graceSeconds(pods: readonly Pod[], namespace: Namespace, nowMs: number): number {
  const goneSeconds = (nowMs - millisecondsOf(namespace.metadata.deletionTimestamp)) / 1000
  let longest = 0
  for (const pod of pods) {
    if (!isPodFinished(pod)) longest = Math.max(longest, Number(pod.spec?.terminationGracePeriodSeconds ?? 0))
  }
  // Pods beyond their grace period are waited for without an estimate.
  return longest === 0 ? 0 : Math.max(1, Math.ceil(longest - goneSeconds))
}
