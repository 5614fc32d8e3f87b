import type { Resource } from '../../registry/resource.ts'
import { events } from './events.ts'

/** The kinds of this group, in the order of discovery. */
export const eventsResources: Resource[] = [events]
