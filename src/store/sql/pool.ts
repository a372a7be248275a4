// What is used of a `pg.Pool`: written here, so that a seller's compiler needs no types of `pg`.

export interface PgPool {
  connect(): Promise<PgClient>;
  end(): Promise<void>;
}
export interface PgClient {
  query(text: string, values: readonly unknown[]): Promise<PgResult>;
  release(destroy?: boolean): void;
  on?(event: "error", listener: (error: Error) => void): unknown;
}
export interface PgResult {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: unknown[];
}
