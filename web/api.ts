import { goToLogin } from './router.ts'

/** A rejected request, with the server's message. */
export class Refused extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Returns the refusal in a response. If the session has ended, the page goes to the login. */
export async function refusalOf(response: Response): Promise<Refused> {
  if (response.status === 401) goToLogin()
  const { message } = (await response.json().catch(() => ({}))) as { message?: string }
  return new Refused(response.status, message ?? `the server answered ${response.status}`)
}

async function answerOf<T>(response: Response): Promise<T> {
  if (!response.ok) throw await refusalOf(response)
  return (await response.json()) as T
}

/** Sends a GET request to the dashboard's server. */
export async function ask<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> {
  const text = new URLSearchParams(query).toString()
  return answerOf<T>(await fetch(`/api/${path}${text ? `?${text}` : ''}`))
}

/** Sends a POST request to the dashboard's server. */
export async function tell<T>(path: string, body: object): Promise<T> {
  return answerOf<T>(
    await fetch(`/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )
}
