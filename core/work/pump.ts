/** A loop that runs when nudged, never twice at a time, and once more when it was nudged meanwhile. */
export type Pump = {
  nudge(): void
  /** Ends after the current run; later nudges do nothing. */
  stop(): Promise<void>
  busy(): boolean
}

/** `work` does all there is to do and returns; what it throws goes to `failed`, and the next nudge tries again. */
export function createPump(work: () => Promise<void>, failed: (error: unknown) => void): Pump {
  let running: Promise<void> | undefined
  let again = false
  let stopped = false

  const loop = async () => {
    while (again && !stopped) {
      again = false
      try {
        await work()
      } catch (error) {
        failed(error)
      }
    }
    running = undefined
  }

  return {
    nudge() {
      if (stopped) return
      again = true
      running ??= loop()
    },
    async stop() {
      stopped = true
      await running
    },
    busy: () => running !== undefined,
  }
}
