<?php

final class Product
{
    public int $id;
    protected string $title;
    private array $prices;
    public ?Product $next = null;

    public function __construct(int $id, string $title, array $prices)
    {
        $this->id = $id;
        $this->title = $title;
        $this->prices = $prices;
    }
}

enum Status: string
{
    case Open = 'open';
    case Shipped = 'shipped';
}

final class SendMail
{
    public function __construct(public int $user, public string $text, public ?string $queue = null)
    {
    }
}

/** Knows what to write: each value is the same whether it is made or checked. */
final class Values
{
    private const WORDS = ['cotton', 'kettle', 'morning', 'river', 'blue', 'garden', 'letter', 'paper', 'window',
                           'copper', 'Größe', 'café', '東京', 'the', 'and', 'with', 'from', 'under', 'warm', 'cold'];
    private string $text;

    public function __construct(private int $seed, private int $size)
    {
        mt_srand(0);
        $words = [];
        for ($at = 0; $at < 20000; $at++) {
            $words[] = self::WORDS[mt_rand(0, 19)];
        }
        $this->text = implode(' ', $words);
    }

    public function seed(string $index): void
    {
        mt_srand(crc32("$this->seed/php/$index"));
    }

    public function prose(int $length): string
    {
        return mb_strcut($this->text, mt_rand(0, strlen($this->text) - $length - 1), $length, 'UTF-8');
    }

    public function length(): int
    {
        $normal = sqrt(-2 * log(mt_rand(1, 1 << 30) / (1 << 30))) * cos(2 * M_PI * mt_rand(0, 1 << 30) / (1 << 30));
        return (int) min(65536, exp(log(max($this->size, 2)) - 0.405 + 0.9 * $normal));
    }

    /** Returns a value and the classes that it names. */
    public function value(bool $objects = true): array
    {
        $length = $this->length();
        switch (mt_rand(0, $objects ? 8 : 5)) {
            case 0:
                return [$this->prose(max(1, $length)), []];
            case 1:
                return [array_map(fn () => mt_rand(0, 1000000), range(1, max(2, intdiv($length, 8)))), []];
            case 2:
            case 3:
                return [['id' => mt_rand(1, 1000000), 'name' => $this->prose(12), 'price' => mt_rand(1, 99999) / 100,
                         'active' => mt_rand(0, 1) === 1, 'parent' => null, 'about' => $this->prose($length)], []];
            case 4:
                $rows = [];
                for ($at = 0; $at < max(1, intdiv($length, 70)); $at++) {
                    $rows[] = ['id' => mt_rand(1, 1000000), 'title' => $this->prose(20)];
                }
                return [$rows, []];
            case 5:
                return ['<ul><li>' . $this->prose($length) . '</li></ul>', []];
            case 6:
                $product = new Product(mt_rand(1, 1000000), $this->prose($length), ['eur' => mt_rand(1, 999) / 10]);
                $product->next = new Product(1, 'next', []);
                return [$product, ['Product']];
            case 7:
                $made = new DateTimeImmutable('@' . mt_rand(1700000000, 1790000000));
                return [['made' => $made, 'note' => $this->prose($length)], ['DateTimeImmutable']];
            default:
                $list = new ArrayObject(['a' => mt_rand(0, 99), 'b' => $this->prose($length)]);
                return [['status' => Status::Shipped, 'list' => $list], ['ArrayObject', 'Status']];
        }
    }

    public function ttl(): ?int
    {
        return mt_rand(1, 10) > 3 ? mt_rand(48, 2160) * 3600 : null;
    }
}
