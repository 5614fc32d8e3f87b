import type { Resource } from '../../registry/resource.ts'
import { csidrivers } from './csidrivers.ts'
import { csinodes } from './csinodes.ts'
import { csistoragecapacities } from './csistoragecapacities.ts'
import { storageclasses } from './storageclasses.ts'
import { volumeattachments } from './volumeattachments.ts'
import { volumeattributesclasses } from './volumeattributesclasses.ts'

/** The kinds of storage.k8s.io, in the order of discovery. */
export const storageResources: Resource[] = [
  csidrivers,
  csinodes,
  csistoragecapacities,
  storageclasses,
  volumeattachments,
  volumeattributesclasses,
]
