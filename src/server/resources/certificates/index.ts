import type { Resource } from '../../registry/resource.ts'
import { certificatesigningrequests } from './certificatesigningrequests.ts'

/** The kinds of certificates.k8s.io. */
export const certificatesResources: Resource[] = [certificatesigningrequests]
