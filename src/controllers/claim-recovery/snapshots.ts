import { ApiError } from '../../api/errors.ts'
import type { ApplyContext } from '../kit/index.ts'
import type { SnapshotSource } from './provenance.ts'

type Ask = ApplyContext<never>['ask']

interface Snapshot {
  metadata: { name: string }
  spec?: { driver?: string; source?: { persistentVolumeClaimName?: string; volumeHandle?: string } }
}

const api = '/apis/snapshot.storage.k8s.io/v1'

/**
 * Lists the snapshots of claims of a namespace, and of volumes. A cluster without the snapshot API has none. Whoever
 * may not read them cannot know, and gets undefined.
 */
export async function snapshotSources(ask: Ask, namespace: string): Promise<readonly SnapshotSource[] | undefined> {
  const taken = await listOf(ask, `${api}/namespaces/${namespace}/volumesnapshots`)
  const contents = await listOf(ask, `${api}/volumesnapshotcontents`)
  if (!taken || !contents) return undefined
  return [...taken, ...contents].map(({ metadata: { name }, spec }) => ({
    snapshot: name,
    claim: spec?.source?.persistentVolumeClaimName,
    driver: spec?.driver,
    handle: spec?.source?.volumeHandle,
  }))
}

async function listOf(ask: Ask, path: string): Promise<readonly Snapshot[] | undefined> {
  try {
    return (await ask<{ items?: Snapshot[] }>(path)).items ?? []
  } catch (e) {
    if (!(e instanceof ApiError)) throw e
    if (e.code === 404) return []
    if (e.code === 401 || e.code === 403) return undefined
    throw e
  }
}
